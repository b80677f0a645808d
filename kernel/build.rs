//! Hands the linker script over, and refuses flags under which the kernel would link but not boot.

fn main() {
    let script = "src/arch/x86_64/linker.ld";
    println!("cargo:rerun-if-changed={script}");
    println!("cargo:rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");
    let folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    println!("cargo:rustc-link-arg-bins=-T{folder}/{script}");
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let bare = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "none");
    assert!(
        !bare || flags.contains("relocation-model=static"),
        "the flags of .cargo/config.toml did not arrive: unset RUSTFLAGS and build again"
    );
}
