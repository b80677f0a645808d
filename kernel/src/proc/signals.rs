//! What a process asked to happen on signals.

use alloc::vec::Vec;
use syscalls::Errno;
use syscalls::linux::SignalAction;

/// The dispositions that are not the default, by signal.
pub(crate) struct SignalActions(Vec<(u8, SignalAction)>);

impl SignalActions {
    pub(super) const fn new() -> Self {
        SignalActions(Vec::new())
    }

    /// The disposition of `signal`.
    pub(crate) fn get(&self, signal: u8) -> SignalAction {
        self.0.iter().find(|(of, _)| *of == signal).map_or(SignalAction::default(), |(_, action)| *action)
    }

    /// Changes it. ENOMEM, and nothing has changed.
    pub(crate) fn set(&mut self, signal: u8, action: SignalAction) -> Result<(), Errno> {
        if let Some((_, place)) = self.0.iter_mut().find(|(of, _)| *of == signal) {
            *place = action;
            return Ok(());
        }
        self.0.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        self.0.push((signal, action));
        Ok(())
    }
}
