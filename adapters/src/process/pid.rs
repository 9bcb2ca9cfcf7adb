//! Which texts name a process that may be a machine?

use rustix::process::Pid;

/// A process id that may be a machine's: above 1, and not this program's own.
///
/// Zero, minus one and other negative numbers mean groups of processes to `kill`; none of them can
/// be written as this type, and neither can the first process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MachinePid(Pid);

impl MachinePid {
    /// Reads a provider id: decimal digits as the operating system writes them, and nothing else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let canonical = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
        let raw: i32 = if canonical {
            text.parse().ok()?
        } else {
            return None;
        };
        let own = rustix::process::getpid().as_raw_pid();
        let pid = Pid::from_raw(raw).filter(|_| raw > 1 && raw != own)?;
        Some(Self(pid))
    }

    pub(super) const fn pid(self) -> Pid {
        self.0
    }

    pub(super) const fn raw(self) -> i32 {
        self.0.as_raw_pid()
    }
}

#[cfg(test)]
mod tests {
    use super::MachinePid;

    #[test]
    fn hostile_ids_are_no_pids() {
        let own = std::process::id().to_string();
        let hostile = [
            "",
            "0",
            "1",
            "-1",
            "-0",
            "+5",
            " 5",
            "5 ",
            "05",
            "5\n",
            "5\0",
            "0x10",
            "self",
            "..",
            "1e3",
            "٣",
            "2147483648",
            "4294967295",
            "99999999999999999999",
            &own,
        ];
        for text in hostile {
            assert_eq!(MachinePid::parse(text), None, "{text:?}");
        }
        assert_eq!(MachinePid::parse("2").map(MachinePid::raw), Some(2));
    }
}
