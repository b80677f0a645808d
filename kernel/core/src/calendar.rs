//! Dates.

/// Seconds from 1970-01-01 to the beginning of a day of the Gregorian calendar, from then on; `month` and `day` count
/// from 1.
#[must_use]
pub const fn seconds_since_1970(year: u64, month: u64, day: u64) -> u64 {
    // Years that begin in March put the leap day at their end.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let days = year * 365 + year / 4 - year / 100 + year / 400 + day_of_year;
    /// Days from 1 March of the year 0 to 1970-01-01.
    const DAYS_TO_1970: u64 = 719_468;
    (days - DAYS_TO_1970) * 86_400
}

#[cfg(test)]
mod tests {
    use super::seconds_since_1970;

    #[test]
    fn known_dates() {
        for (date, seconds) in [
            ((1970, 1, 1), 0),
            ((2000, 2, 29), 951_782_400),
            ((2000, 3, 1), 951_868_800),
            ((2024, 12, 31), 1_735_603_200),
            ((2100, 3, 1), 4_107_542_400),
        ] {
            assert_eq!(seconds_since_1970(date.0, date.1, date.2), seconds, "{date:?}");
        }
    }
}
