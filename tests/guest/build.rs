//! Lets each test program begin at `guest_start` (src/start.rs), which notes the registers and goes on to the C library.

fn main() {
    println!("cargo:rustc-link-arg-tests=-Wl,-e,guest_start");
    println!("cargo:rustc-link-arg-tests={}/start.ld", env!("CARGO_MANIFEST_DIR"));
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=start.ld");
}
