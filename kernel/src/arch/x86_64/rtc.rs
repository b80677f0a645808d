//! The battery clock, read once at boot: the time of day, in whole seconds.

use x86_64::instructions::port::Port;

const STATUS_A: u8 = 0x0a;
const UPDATE_IN_PROGRESS: u8 = 0x80;
const STATUS_B: u8 = 0x0b;
const BINARY: u8 = 0x04;
const HOURS_24: u8 = 0x02;
/// Second, minute, hour, day, month, year of the century.
const REGISTERS: [u8; 6] = [0x00, 0x02, 0x04, 0x07, 0x08, 0x09];

fn read(register: u8) -> u8 {
    // SAFETY: selects and reads a register of the clock; boot alone uses it.
    unsafe {
        Port::<u8>::new(0x70).write(register);
        Port::<u8>::new(0x71).read()
    }
}

/// Seconds since 1970-01-01 00:00 UTC, taking the battery clock as UTC and its year as 20xx.
pub(crate) fn read_wall_clock() -> u64 {
    // Two equal readings with no update under way were not torn by one.
    let mut last = read_registers();
    loop {
        let next = read_registers();
        if next == last {
            break;
        }
        last = next;
    }
    let [second, minute, hour, day, month, year] = decode(last, read(STATUS_B)).map(u64::from);
    kcore::calendar::seconds_since_1970(2000 + year, month, day) + hour * 3600 + minute * 60 + second
}

fn read_registers() -> [u8; 6] {
    while read(STATUS_A) & UPDATE_IN_PROGRESS != 0 {
        core::hint::spin_loop();
    }
    REGISTERS.map(read)
}

/// Undoes the clock's choices of decimal digits and of a 12-hour day.
fn decode(raw: [u8; 6], status: u8) -> [u8; 6] {
    let number = |byte: u8| if status & BINARY != 0 { byte } else { (byte >> 4) * 10 + (byte & 0x0f) };
    let mut fields = raw.map(number);
    if status & HOURS_24 == 0 {
        let afternoon = raw[2] & 0x80 != 0;
        fields[2] = number(raw[2] & 0x7f) % 12 + if afternoon { 12 } else { 0 };
    }
    fields
}
