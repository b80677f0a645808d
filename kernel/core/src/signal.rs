//! Signals: what each does when nobody handles it.

/// A signal's default action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The process ends.
    End,
    /// Nothing happens.
    Ignore,
}

/// The default action of a signal of Linux's numbers. The job-control stops do nothing: there is no job control.
#[must_use]
pub const fn default_action(signal: u8) -> Action {
    const CHILD: u8 = 17;
    const CONTINUE: u8 = 18;
    const STOP: u8 = 19;
    const TERMINAL_STOP: u8 = 20;
    const TERMINAL_INPUT: u8 = 21;
    const TERMINAL_OUTPUT: u8 = 22;
    const URGENT: u8 = 23;
    const WINDOW: u8 = 28;
    match signal {
        CHILD | CONTINUE | URGENT | WINDOW => Action::Ignore,
        STOP | TERMINAL_STOP | TERMINAL_INPUT | TERMINAL_OUTPUT => Action::Ignore,
        _ => Action::End,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_that_end_a_program() {
        for signal in [1, 2, 4, 6, 8, 9, 11, 13, 15, 34, 64] {
            assert_eq!(default_action(signal), Action::End, "{signal}");
        }
        assert_eq!(default_action(17), Action::Ignore);
    }
}
