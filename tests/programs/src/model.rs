//! What the programs that have a model elsewhere share: words for errors, dates, the sets and CPUs that there are.

use std::fmt;
use std::io;
use std::string::String;
use std::time::{Duration, SystemTime};
use std::vec;
use std::vec::Vec;

use userlib::Errno;
use userlib::cpu::{self, CpuId};
use userlib::pset::{self, PsetId};

/// An error in the words of the model system.
#[must_use]
pub fn words(errno: Errno) -> &'static str {
    match errno {
        Errno::EPERM => "Not owner",
        Errno::ESRCH => "No such process",
        Errno::EINVAL => "Invalid argument",
        Errno::EBUSY => "Device busy",
        Errno::ENOMEM => "Not enough space",
        other => other.text(),
    }
}

/// An error of the library's in the same words, without its number.
#[must_use]
pub fn words_of(error: &io::Error) -> String {
    let errno = error.raw_os_error().and_then(|code| Errno::from_code(code as u16));
    errno.map_or_else(|| std::format!("{error}"), |errno| words(errno).into())
}

/// A name as a structure holds it, to be shown.
#[must_use]
pub fn name(held: &[u8]) -> String {
    String::from_utf8_lossy(syscalls::name::bytes(held)).into_owned()
}

/// The CPUs that there are.
#[must_use]
pub fn all_cpus() -> Vec<CpuId> {
    cpu::all().map(|(cpu, _)| cpu).collect()
}

/// The sets that there are, without the default one.
#[must_use]
pub fn all_sets() -> Vec<PsetId> {
    gather(PsetId::DEFAULT, pset::list).unwrap_or_default()
}

/// The CPUs of a set.
///
/// # Errors
/// EINVAL: no such set.
pub fn cpus_of(set: PsetId) -> Result<Vec<CpuId>, Errno> {
    gather(CpuId::from_raw(0), |room| pset::cpus(set, room))
}

/// Asks how many there are until there is room for all.
fn gather<T: Clone>(
    filler: T,
    mut ask: impl FnMut(&mut [T]) -> Result<usize, Errno>,
) -> Result<Vec<T>, Errno> {
    let mut found = Vec::new();
    loop {
        let count = ask(&mut found)?;
        if count <= found.len() {
            found.truncate(count);
            return Ok(found);
        }
        found = vec![filler.clone(); count];
    }
}

/// A date and a time of day, in UTC.
#[derive(Debug, Clone, Copy)]
pub struct Date {
    /// As they are spoken of: from 1.
    pub year: u64,
    /// From 1.
    pub month: u64,
    /// From 1.
    pub day: u64,
    /// From midnight.
    pub hour: u64,
    /// In the hour.
    pub minute: u64,
    /// In the minute.
    pub second: u64,
}

impl Date {
    /// So long after the beginning of 1970.
    #[must_use]
    pub fn from_unix(time: Duration) -> Date {
        let (days, rest) = (time.as_secs() / 86_400, time.as_secs() % 86_400);
        // Counted from 1 March of the year 0, so that a leap day is a year's last.
        let days = days + 719_468;
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        Date {
            year: era * 400 + year_of_era + u64::from(month <= 2),
            month,
            day: day_of_year - (153 * month_from_march + 2) / 5 + 1,
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
        }
    }

    /// Now.
    #[must_use]
    pub fn now() -> Date {
        Date::from_unix(SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default())
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Date { year, month, day, hour, minute, second } = self;
        write!(f, "{month:02}/{day:02}/{year} {hour:02}:{minute:02}:{second:02}")
    }
}
