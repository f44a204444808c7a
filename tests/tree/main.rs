//! The tree itself: its layers, its licences.

mod habits;
mod layering;
mod licences;
mod source;
