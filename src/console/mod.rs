//! Output for people: the standard streams, colours, and the one place where foreign text loses
//! what would steer a terminal. Names, source lines, command lines and paths come from programs and
//! files that nobody vouches for; everything but the files of profiles goes through here.

mod elsewhere;
mod foreign;
mod sink;

pub(crate) use elsewhere::Elsewhere;
pub(crate) use foreign::{Notation, one_line};
pub(crate) use sink::{
    Console, Stream, copy, errors, last_words, output, output_is_terminal, output_width, patient_output,
    profile_output, status_line,
};
