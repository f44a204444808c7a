//! The tree itself: its layers, its licences.

mod layering;
mod licences;
mod source;
