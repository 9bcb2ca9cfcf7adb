//! How is a folder removed, whatever is in it and whoever still changes it?
//!
//! A folder in the trash is emptied from the top: files and links are removed as such, and folders
//! are moved up into the trash, to be emptied in turn. So nothing depends on how deep the tree is,
//! no path of more than one name is ever followed, and what is mounted inside is not entered: a
//! mount point cannot be moved, and the removal fails there.

use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags},
    io::Errno,
    path::Arg,
};

use super::{
    error::{During as _, ProcessError},
    files, host,
    registry::{Root, TRASH},
    volume::VolumeName,
};

/// Returns a fresh name in the trash that says which volume it was.
pub(super) fn name_for(volume: &VolumeName) -> Result<String, ProcessError> {
    let token = host::fresh_token().during("naming a piece of trash")?;
    Ok(format!("{volume}{SEPARATOR}{token}"))
}

/// Removes what is left of a volume in the trash; tells whether there was anything.
pub(super) fn empty(root: &Root, volume: &VolumeName) -> Result<bool, ProcessError> {
    let trash = root.folder(TRASH)?;
    let prefix = format!("{volume}{SEPARATOR}");
    let mut found = false;
    for _ in 0..ROUNDS {
        let mut names = files::names(&trash).during("listing the trash")?;
        names.retain(|name| name.starts_with(&prefix));
        if names.is_empty() {
            return Ok(found);
        }
        found = true;
        for name in names {
            match remove(&trash, &prefix, &name) {
                // Somebody else removes it too: the next round sees how far that came.
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => return Err(error).during("removing a volume"),
            }
        }
    }
    // Somebody fills it as fast as it is emptied.
    Err(Errno::NOTEMPTY).during("removing a volume")
}

/// Removes whatever is in the trash, as far as that is possible.
pub(super) fn empty_all(root: &Root) -> Result<(), ProcessError> {
    let trash = root.folder(TRASH)?;
    let volumes = files::names(&trash).during("listing the trash")?;
    let mut volumes: Vec<_> = volumes
        .iter()
        .filter_map(|name| VolumeName::parse(name.split_once(SEPARATOR)?.0))
        .collect();
    volumes.sort_unstable();
    volumes.dedup();
    for volume in volumes {
        empty(root, &volume)?;
    }
    Ok(())
}

/// Takes one round at one folder of the trash and all that comes up from below it.
fn remove(trash: &OwnedFd, prefix: &str, name: &str) -> Result<(), Errno> {
    let mut waiting = vec![name.to_owned()];
    while let Some(name) = waiting.pop() {
        if files::kind(trash, &name)? != Some(FileType::Directory) {
            files::remove(trash, &name, AtFlags::empty())?;
            continue;
        }
        let folder = open(trash, &name)?;
        // Where that is refused, what follows says so.
        let _ = rustix::fs::fchmod(&folder, Mode::RWXU);
        for entry in Dir::read_from(folder.as_fd())? {
            let entry = entry?;
            let inside = entry.file_name();
            if matches!(inside.to_bytes(), b"." | b"..") {
                continue;
            }
            match rustix::fs::unlinkat(&folder, inside, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(Errno::ISDIR | Errno::PERM) => {
                    let token = host::fresh_token().map_err(|_| Errno::IO)?;
                    let up = format!("{prefix}{token}");
                    take(&folder, inside, trash, &up)?;
                    waiting.push(up);
                }
                Err(error) => return Err(error),
            }
        }
        match files::remove(trash, &name, AtFlags::REMOVEDIR) {
            // Somebody put something there meanwhile: that is the next round's.
            Ok(_) | Err(Errno::NOTEMPTY) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Moves a folder into the trash.
pub(super) fn take(
    from: &OwnedFd,
    name: impl Arg + Copy,
    trash: &OwnedFd,
    fresh: &str,
) -> Result<(), Errno> {
    let rename = || rustix::fs::renameat_with(from, name, trash, fresh, RenameFlags::NOREPLACE);
    match rename() {
        // A folder that moves is written to.
        Err(Errno::ACCESS) => {
            unlock(from, name)?;
            rename()
        }
        renamed => renamed,
    }
}

fn open(trash: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    match files::open_dir(trash, name) {
        Err(Errno::ACCESS) => {
            unlock(trash, name)?;
            files::open_dir(trash, name)
        }
        opened => opened,
    }
}

/// Gives the owner of a folder all rights to it. A machine may have taken them from itself.
fn unlock(at: &OwnedFd, name: impl Arg) -> Result<(), Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = rustix::fs::openat(at, name, flags, Mode::empty())?;
    // The way over /proc leads to what was opened, whatever has its name by now.
    rustix::fs::chmod(format!("/proc/self/fd/{}", folder.as_raw_fd()), Mode::RWXU)
}

/// No name of a volume has it.
const SEPARATOR: char = '~';
const ROUNDS: usize = 16;
