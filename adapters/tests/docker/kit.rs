//! A Podman service of its own, and what a test does to its containers from outside.

use core::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};
use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::Instant,
};

use lifecycle_adapters::{
    docker::{ContainerOptions, DockerConfig, DockerProvider, VolumeName},
    id::MachineId,
    provider::Target,
};
use serde_json::json;

pub(crate) const IMAGE: &str = "localhost/lifecycle-test:1";
/// It brings a volume that nobody names.
pub(crate) const IMAGE_WITH_VOLUME: &str = "localhost/lifecycle-test:volume";
/// Ends politely when it is asked to.
pub(crate) const POLITE: [&str; 3] = ["sh", "-c", "trap exit TERM; sleep 600 & wait"];
/// As a container's first process it is not asked twice: it ignores what it does not expect.
pub(crate) const IMPOLITE: [&str; 2] = ["sleep", "600"];

/// An engine that ends with the test.
pub(crate) struct Podman {
    folder: tempfile::TempDir,
    service: Child,
    count: AtomicU64,
}

impl Podman {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let busybox = [Path::new("/bin/busybox"), Path::new("/usr/bin/busybox")];
        let busybox = busybox.into_iter().find(|path| path.exists());
        let found = ["podman", "runc"].map(is_installed);
        let (Some(busybox), [true, true]) = (busybox, found) else {
            panic!("these tests need podman, runc and busybox-static: run .ci/install-podman");
        };
        let (rootfs, tar) = (
            folder.path().join("rootfs"),
            folder.path().join("image.tar"),
        );
        fs::create_dir_all(rootfs.join("bin")).expect("a folder");
        fs::copy(busybox, rootfs.join("bin/busybox")).expect("busybox");
        for applet in ["sh", "sleep", "cat", "true"] {
            symlink("busybox", rootfs.join("bin").join(applet)).expect("a link");
        }
        let packed = Command::new("tar")
            .args([
                Path::new("-C"),
                &rootfs,
                Path::new("-cf"),
                &tar,
                Path::new("."),
            ])
            .output();
        assert!(packed.expect("tar").status.success());
        let service = podman(folder.path())
            // Without work it ends by itself, should the test be killed.
            .args(["system", "service", "--time", "300"])
            .arg(format!("unix://{}", socket(folder.path()).display()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("podman");
        let podman = Self {
            folder,
            service,
            count: AtomicU64::new(0),
        };
        let tar = tar.to_str().expect("a path");
        podman.run(&["import", tar, IMAGE]);
        podman.run(&[
            "import",
            "--change",
            "VOLUME /brought",
            tar,
            IMAGE_WITH_VOLUME,
        ]);
        until("the service listens", || {
            std::os::unix::net::UnixStream::connect(socket(podman.folder.path())).is_ok()
        });
        podman
    }

    pub(crate) fn config(&self) -> DockerConfig {
        DockerConfig::new(socket(self.folder.path())).with_stop_limit(Duration::from_secs(2))
    }

    pub(crate) fn provider(&self) -> DockerProvider {
        DockerProvider::connect(self.config()).expect("a client")
    }

    /// A file that is only of this engine.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Asks Podman itself, beside the provider.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let output = self.try_run(arguments);
        let says = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "podman {arguments:?}: {says}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    pub(crate) fn try_run(&self, arguments: &[&str]) -> Output {
        let output = podman(self.folder.path()).args(arguments).output();
        output.expect("podman")
    }

    /// The state of a container in Podman's words; none where there is none.
    pub(crate) fn state(&self, target: &Target) -> Option<String> {
        let format = "{{.State.Status}}";
        let output = self.try_run(&[
            "container",
            "inspect",
            "--format",
            format,
            &target.provider_id,
        ]);
        let says = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        output.status.success().then_some(says)
    }

    pub(crate) fn has_volume(&self, name: &str) -> bool {
        self.try_run(&["volume", "exists", name]).status.success()
    }

    /// Runs a container that no provider made.
    pub(crate) fn foreign(&self, arguments: &[&str]) -> String {
        let usual = [
            "run",
            "--detach",
            "--network",
            "none",
            "--ulimit",
            "nofile=1024:1024",
            "--ulimit",
            "nproc=1024:1024",
            "--pids-limit",
            "0",
        ];
        self.run(&[&usual[..], arguments].concat())
    }

    /// Makes a machine of a fresh name.
    pub(crate) async fn make(&self, command: &[&str], has_volume: bool) -> Target {
        let number = self.count.fetch_add(1, Ordering::SeqCst);
        let machine = machine(&format!("machine {number}"));
        let mut options = options(command);
        if has_volume {
            let name = VolumeName::parse(format!("volume-{number}")).expect("a name");
            options = options.with_volume(name, "/home");
        }
        let created = self.provider().create(&machine, 1, &options).await;
        created.expect("a container").target(machine, 1)
    }
}

impl Drop for Podman {
    fn drop(&mut self) {
        // Containers first: they are no children of the service.
        let _ = self.try_run(&["rm", "--force", "--all", "--time", "0"]);
        let _ = self.service.kill();
        let _ = self.service.wait();
    }
}

/// Options for a container that starts also where little is allowed.
pub(crate) fn options(command: &[&str]) -> ContainerOptions {
    let mut options = ContainerOptions::new(IMAGE, command.iter().copied());
    let host = json!({
        "NetworkMode": "none",
        "PidsLimit": 0,
        "Ulimits": [
            { "Name": "nofile", "Soft": 1024, "Hard": 1024 },
            { "Name": "nproc", "Soft": 1024, "Hard": 1024 },
        ],
    });
    options.host = host.as_object().expect("an object").clone();
    options
}

pub(crate) fn machine(name: &str) -> MachineId {
    MachineId::new(name).expect("a machine id")
}

pub(crate) fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(20), "never: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn podman(folder: &Path) -> Command {
    let mut command = Command::new("podman");
    command
        .arg("--root")
        .arg(folder.join("root"))
        .arg("--runroot")
        .arg(folder.join("run"))
        .arg("--tmpdir")
        .arg(folder.join("tmp"))
        .args(["--storage-driver", "vfs", "--runtime", "runc"])
        .args(["--cgroup-manager", "cgroupfs", "--events-backend", "none"])
        .stdin(Stdio::null());
    command
}

fn socket(folder: &Path) -> PathBuf {
    folder.join("podman.sock")
}

fn is_installed(program: &str) -> bool {
    let version = Command::new(program).arg("--version").output();
    version.is_ok_and(|output| output.status.success())
}
