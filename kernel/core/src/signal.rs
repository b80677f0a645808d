//! Signals: what each does when nobody handles it.

/// A signal's default action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The process ends.
    End,
    /// The process stops, until it is told to go on.
    Stop,
    /// A stopped process goes on, whatever it thinks of the signal.
    Continue,
    /// Nothing happens.
    Ignore,
}

/// The default action of a signal of Linux's numbers.
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
        CHILD | URGENT | WINDOW => Action::Ignore,
        CONTINUE => Action::Continue,
        STOP | TERMINAL_STOP | TERMINAL_INPUT | TERMINAL_OUTPUT => Action::Stop,
        _ => Action::End,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_signal_has_the_action_that_posix_gives_it() {
        for signal in [1, 2, 4, 6, 8, 9, 11, 13, 15, 34, 64] {
            assert_eq!(default_action(signal), Action::End, "{signal}");
        }
        for signal in [19, 20, 21, 22] {
            assert_eq!(default_action(signal), Action::Stop, "{signal}");
        }
        for signal in [17, 23, 28] {
            assert_eq!(default_action(signal), Action::Ignore, "{signal}");
        }
        assert_eq!(default_action(18), Action::Continue);
    }
}
