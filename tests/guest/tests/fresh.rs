//! A new program starts with cleared registers and the usual control words: nothing of any other LWP's is visible.

use guest::first_registers;

#[test]
fn the_registers_are_clear() {
    let first = first_registers();
    assert_eq!(first.general, [0; 15]);
    assert_eq!(first.vectors, [0; 16]);
}

#[test]
fn the_flags_are_clear_but_for_interrupts() {
    assert_eq!(first_registers().flags & !0x2, 0x200, "the reserved bit aside");
}

#[test]
fn the_control_words_are_the_usual_ones() {
    let first = first_registers();
    assert_eq!((first.mxcsr, first.control), (0x1f80, 0x037f));
}
