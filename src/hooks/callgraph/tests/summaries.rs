//! Calls that a summary does not tell everything of.

use super::*;

/// Checks that the short way, with summaries, leads where the long one does.
fn check(p: &Program) {
    let driven = p.driven(&small());
    let costs = |jumps| driven.costs_of_calls((jumps, true), ToldLevels::First);
    assert_eq!(costs(false), costs(true));
}

#[test]
fn a_return_out_of_the_function_that_calls() {
    let mut p = Program::new();
    let text = Section::Text;
    let (call, after) = (p.block(MAIN, 0, Leave::Call, text), p.block(MAIN, 1, Leave::Jump, text));
    let (f, f_next) = (p.block(F, 0, Leave::Call, text), p.block(F, 1, Leave::Jump, text));
    let (f_end, g) = (p.block(F, 2, Leave::Return, text), p.block(G, 0, Leave::Return, text));
    for round in 0..100 {
        // The same words, but the caller's part of the stack begins nearer now and then.
        let sp = if round % 10 == 9 { 840 } else { 900 };
        p.run(call, sp);
        p.run(f, 792);
        p.run(g, 850);
        p.run(f_next, 792);
        p.run(f_end, sp + 8);
        p.run(after, sp + 8);
    }
    check(&p);
}

#[test]
fn recursion_of_an_outermost_function() {
    let mut p = Program::new();
    let text = Section::Text;
    let (call, after) = (p.block(MAIN, 0, Leave::Call, text), p.block(MAIN, 1, Leave::Jump, text));
    let (f, f_call) = (p.block(F, 0, Leave::Jump, text), p.block(F, 1, Leave::Call, text));
    let (f_next, f_end) = (p.block(F, 2, Leave::Jump, text), p.block(F, 3, Leave::Return, text));
    let recursion = |p: &mut Program, is_outermost: bool| {
        if !is_outermost {
            p.run(call, 992);
        }
        for _ in 0..20 {
            p.run(f_call, 792);
            p.run(f, 792);
            p.run(f_end, 800);
            p.run(f_next, 800);
        }
        if !is_outermost {
            p.run(f_end, 1000);
            p.run(after, 1000);
        }
    };
    p.task(0);
    recursion(&mut p, false);
    p.task(1);
    recursion(&mut p, true);
    p.task(0);
    recursion(&mut p, false);
    check(&p);
}
