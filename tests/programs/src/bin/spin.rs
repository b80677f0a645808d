//! Runs in user mode for ever.
fn main() {
    loop {
        std::hint::spin_loop();
    }
}
