//! `uptime`: the time of day, the time since boot, and the machine's load averages, in the form of illumos' `uptime(1)`.

use programs::model::Date;
use programs::{now, usage};
use std::process::ExitCode;
use userlib::pset;

fn main() -> ExitCode {
    usage::run("uptime", "uptime", |arguments| {
        usage::at_most(0, arguments)?;
        // The first program is the console's one user.
        println!("{}  up{}  1 user,  load average: {}", time_of_day(), time_up(), averages());
        Ok(ExitCode::SUCCESS)
    })
}

fn time_of_day() -> String {
    let Date { hour, minute, .. } = Date::now();
    let half = if hour < 12 { "am" } else { "pm" };
    format!("{:2}:{minute:02}{half}", (hour + 11) % 12 + 1)
}

/// Rounded to minutes.
fn time_up() -> String {
    let minutes = (now().as_secs() + 30) / 60;
    let (days, hours, minutes) = (minutes / 1440, minutes / 60 % 24, minutes % 60);
    let days = if days > 0 { format!(" {days} day(s),") } else { String::new() };
    let rest = match (hours, minutes) {
        (0, 0) => String::new(),
        (0, minutes) => format!(" {minutes} min(s),"),
        (hours, 0) => format!(" {hours} hr(s),"),
        (hours, minutes) => format!(" {hours:2}:{minutes:02},"),
    };
    days + &rest
}

fn averages() -> String {
    let averages = pset::machine_load_averages().expect("sysinfo never fails");
    averages.map(|average| format!("{average:.2}")).join(", ")
}
