/// Makes the error codes: name, Linux's number, and the text that `strerror` gives.
macro_rules! errnos {
    ($($name:ident = $value:literal $text:literal;)*) => {
        /// Why a call failed. Linux's numbers, so that every C library has the texts.
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u16)]
        #[allow(clippy::upper_case_acronyms)] // the names of <errno.h>
        pub enum Errno { $(#[doc = $text] $name = $value),* }

        impl Errno {
            /// Every code there is.
            pub const ALL: &[Errno] = &[$(Errno::$name),*];

            /// The code's name in `<errno.h>`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Errno::$name => stringify!($name)),* }
            }

            /// What the code says, in words.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Errno::$name => $text),* }
            }
        }
    };
}

errnos! {
    EPERM = 1 "operation not permitted";
    ENOENT = 2 "no such file or folder";
    ESRCH = 3 "no such process or LWP";
    EINTR = 4 "interrupted";
    EIO = 5 "input/output error";
    ENXIO = 6 "no such device";
    E2BIG = 7 "argument list too long";
    ENOEXEC = 8 "not a program this kernel can run";
    EBADF = 9 "bad descriptor";
    ECHILD = 10 "no child processes";
    EAGAIN = 11 "resource temporarily unavailable";
    ENOMEM = 12 "out of memory";
    EACCES = 13 "permission denied";
    EFAULT = 14 "bad address";
    EBUSY = 16 "device or resource busy";
    EEXIST = 17 "file exists";
    ENODEV = 19 "no such device";
    ENOTDIR = 20 "not a folder";
    EISDIR = 21 "is a folder";
    EINVAL = 22 "invalid argument";
    EMFILE = 24 "too many open files";
    ENOTTY = 25 "not a terminal";
    ENOSPC = 28 "no space left";
    ESPIPE = 29 "illegal seek";
    EROFS = 30 "read-only file system";
    EPIPE = 32 "broken pipe";
    ERANGE = 34 "result too large";
    EDEADLK = 35 "deadlock would occur";
    ENAMETOOLONG = 36 "file name too long";
    ENOSYS = 38 "no such system call";
    EIDRM = 43 "identifier removed";
    EOVERFLOW = 75 "value too large for its type";
    EOPNOTSUPP = 95 "operation not supported";
    ETIMEDOUT = 110 "timed out";
}

impl Errno {
    /// The number that `<errno.h>` gives.
    #[must_use]
    pub const fn code(self) -> u16 {
        self as u16
    }

    /// The code with this number, if there is one.
    #[must_use]
    pub fn from_code(code: u16) -> Option<Errno> {
        Self::ALL.iter().copied().find(|errno| errno.code() == code)
    }

    /// What a system call returned in `rax`: a value, or an error between −4095 and −1. A code that this list does
    /// not have reads as EIO.
    pub fn from_return(rax: u64) -> Result<u64, Errno> {
        let code = rax.wrapping_neg();
        match (1..=crate::MAX_ERRNO as u64).contains(&code) {
            true => Err(Self::from_code(code as u16).unwrap_or(Errno::EIO)),
            false => Ok(rax),
        }
    }
}

impl core::fmt::Debug for Errno {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

impl core::fmt::Display for Errno {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} ({})", self.text(), self.name())
    }
}

impl core::error::Error for Errno {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_survives_the_way_out_and_back() {
        for &errno in Errno::ALL {
            assert_eq!(Errno::from_return((errno.code() as u64).wrapping_neg()), Err(errno));
        }
    }

    #[test]
    fn values_are_not_errors() {
        for value in [0, 1, 4096, u64::MAX - 4095, 1 << 63] {
            assert_eq!(Errno::from_return(value), Ok(value));
        }
    }
}
