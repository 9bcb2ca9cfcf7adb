//! How are files below the root reached, whatever was put in their way?
//!
//! Every step is taken from a folder that is held open, by a plain name, and follows no link.

use std::{
    fs::File,
    io::{self, Read as _, Write as _},
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags},
    io::Errno,
};

/// Opens a folder.
///
/// A link or anything else in its place fails with [`Errno::NOTDIR`] or [`Errno::LOOP`].
pub(super) fn open_dir(at: impl AsFd, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(at, name, flags, Mode::empty())
}

/// Opens a folder, making it where there is none; tells whether it was made.
pub(super) fn make_dir(at: impl AsFd, name: &str) -> Result<(OwnedFd, bool), Errno> {
    let made = match rustix::fs::mkdirat(&at, name, Mode::RWXU) {
        Ok(()) => true,
        Err(Errno::EXIST) => false,
        Err(error) => return Err(error),
    };
    Ok((open_dir(at, name)?, made))
}

/// Opens a file for writing at its end, making it where there is none.
pub(super) fn open_to_write(at: impl AsFd, name: &str, more: OFlags) -> Result<File, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC | more;
    let file = rustix::fs::openat(at, name, flags, Mode::RUSR | Mode::WUSR)?;
    Ok(File::from(file))
}

/// Reads a whole file; none where there is none.
pub(super) fn read(at: impl AsFd, name: &str) -> io::Result<Option<Vec<u8>>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    match rustix::fs::openat(at, name, flags, Mode::empty()) {
        Ok(file) => {
            let mut bytes = Vec::new();
            File::from(file).read_to_end(&mut bytes)?;
            Ok(Some(bytes))
        }
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Writes a whole file, so that a crash leaves the old or the new one. The caller holds the lock.
pub(super) fn write(at: impl AsFd, name: &str, bytes: &[u8]) -> io::Result<()> {
    const DRAFT: &str = ".draft";
    let mut file = open_to_write(&at, DRAFT, OFlags::TRUNC)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    rustix::fs::renameat(&at, DRAFT, &at, name)?;
    Ok(rustix::fs::fsync(at)?)
}

/// Removes a file; tells whether there was one.
pub(super) fn remove(at: impl AsFd, name: &str, flags: AtFlags) -> Result<bool, Errno> {
    match rustix::fs::unlinkat(at, name, flags) {
        Ok(()) => Ok(true),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns what kind of file it is, a link being a link; none where there is none.
pub(super) fn kind(at: impl AsFd, name: &str) -> Result<Option<FileType>, Errno> {
    match rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the plain names in a folder; those that are no Unicode are none of ours.
pub(super) fn names(at: impl AsFd) -> Result<Vec<String>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(at)? {
        let entry = entry?;
        let name = entry.file_name().to_str().map(str::to_owned);
        names.extend(name.ok().filter(|name| !name.starts_with('.')));
    }
    Ok(names)
}
