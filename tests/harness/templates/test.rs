//! What is tested here, and where it is promised.

#[test]
fn one_and_one_make_two() {
    assert_eq!(1 + 1, 2);
}
