//! Prints a greeting.
fn main() {
    println!("hello");
}
