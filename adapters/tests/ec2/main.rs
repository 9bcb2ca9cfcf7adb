//! What becomes of machines that are instances of EC2, told with a moto server and with recorded answers.
//!
//! Moto is started here, once for the tests that run side by side, and ends with them. It is laxer
//! than EC2: where that matters, a server of a few lines answers as EC2 does.
#![cfg(feature = "ec2")]

mod answers;
mod create;
mod destroying;
mod environment;
mod http;
mod instances;
mod listing;
mod moto;
mod recorded;
mod secrets;
mod suite;
mod volumes;
