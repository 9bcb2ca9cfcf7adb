//! Are the words and numbers of the wire, and the sentences people read, the ones that were agreed?

mod generations;
mod guard;
mod sentences;
mod stable;
