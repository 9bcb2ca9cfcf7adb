//! Does the shell keep what the core decides, whatever happens between its steps?
//!
//! Every story runs against each store, with the simulated provider and a clock of its own.

mod bench;
mod crash;
mod destroying;
mod fleet_guard;
mod incarnations;
mod names;
mod observing;
mod policies;
mod postgres;
mod races;
mod relay;
mod tokens;
mod volumes;
mod wrapped;

/// Makes one test a store of every story.
macro_rules! stories {
    ($($story:ident,)+) => {
        mod memory {
            $(#[tokio::test]
            async fn $story() {
                super::$story(crate::bench::Bench::memory()).await;
            })+
        }

        mod sqlite {
            $(#[tokio::test]
            async fn $story() {
                super::$story(crate::bench::Bench::sqlite().await).await;
            })+
        }

        mod postgres {
            $(#[tokio::test]
            async fn $story() {
                super::$story(crate::bench::Bench::postgres().await).await;
            })+
        }
    };
}

pub(crate) use stories;
