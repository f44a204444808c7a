// Generic functions, closures, trait objects and what the standard library adds to them.
use std::collections::BTreeMap;
use std::fmt;

mod shapes {
    pub trait Area {
        fn area(&self) -> f64;
        fn twice(&self) -> f64 {
            self.area() * 2.0
        }
    }
    pub struct Square(pub f64);
    pub struct Circle {
        pub radius: f64,
    }
    impl Area for Square {
        fn area(&self) -> f64 {
            self.0 * self.0
        }
    }
    impl Area for Circle {
        fn area(&self) -> f64 {
            3.0 * self.radius * self.radius
        }
    }
}

use shapes::{Area, Circle, Square};

struct Pair<T>(T, T);

impl<T: fmt::Display> fmt::Display for Pair<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} {}>", self.0, self.1)
    }
}

#[inline(never)]
fn made<F: Fn(u32) -> u32>(count: u32, f: F) -> Vec<u32> {
    (0..count).map(|i| f(i)).filter(|x| x % 3 != 0).collect()
}

#[inline(never)]
fn fibonacci(n: u32) -> u32 {
    if n < 2 { n } else { fibonacci(n - 1) + fibonacci(n - 2) }
}

fn main() {
    let mut sums = BTreeMap::new();
    for x in made(300, |i| i * i % 97) {
        *sums.entry(format!("k{}", x % 20)).or_insert(0) += x;
    }
    let mut all: Vec<_> = sums.into_iter().collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let shapes: Vec<Box<dyn Area>> = vec![Box::new(Square(2.0)), Box::new(Circle { radius: 1.0 })];
    let area: f64 = shapes.iter().map(|shape| shape.twice()).sum();
    println!("{all:?} {area} {} {}", fibonacci(12), Pair("y", "x"));
}
