//! Does the code keep the arrows and the layout that the house style promises?

mod arrows;
mod files;
mod imports;
mod manifests;
mod sources;
