//! Runs in user mode for ever.
fn main() -> std::process::ExitCode {
    programs::usage::run("spin", "spin", |arguments| {
        programs::usage::at_most(0, arguments)?;
        loop {
            std::hint::spin_loop();
        }
    })
}
