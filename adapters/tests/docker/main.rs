//! What becomes of machines that are containers, told with a real Podman and with a socket that lies.
//!
//! Each test starts a Podman service of its own on a socket in a temporary folder, with storage of its
//! own beside it, and stops it at its end: by its id, after its containers. Nothing else is touched.

mod compute;
mod conformance;
mod create;
mod faults;
mod kit;
mod lies;
mod volume;
