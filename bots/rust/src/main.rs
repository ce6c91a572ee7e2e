//! A bot that plays every game by a few rules of thumb: replace them with better ones.

use std::cmp::Reverse;
use std::process::ExitCode;

use bot::Bot;
use bot::v1::decision::View;
use bot::v1::{BirthView, BurningDesirePhase, BurningDesireView};
use bot::v1::{ButtonsPhase, ButtonsSeat, ButtonsView, Decision, MatchStart};
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;

fn main() -> ExitCode {
    bot::run::<Example>()
}

struct Example {
    seat: usize,
    random: ChaCha8Rng,
}

impl Bot for Example {
    fn start(start: &MatchStart) -> Self {
        Example {
            seat: start.seat as usize,
            random: start.random(),
        }
    }

    fn choose(&mut self, decision: &Decision, legal: &[u32]) -> u32 {
        match &decision.view {
            Some(View::Birth(view)) => birth(view, self.seat, legal),
            Some(View::BurningDesire(view)) => burning_desire(view),
            Some(View::Buttons(view)) => buttons(view, self.seat, legal),
            _ => *legal.choose(&mut self.random).expect("a legal action"),
        }
    }
}

/// The die whose move lands in the dearest area, of equal ones the lowest.
fn birth(view: &BirthView, seat: usize, legal: &[u32]) -> u32 {
    first_of_best(legal, |action| view.areas[landing(view, seat, action + 1)])
}

/// The space where a move ends; it goes on as long as somebody else's pawn is in the way.
fn landing(view: &BirthView, seat: usize, face: u32) -> usize {
    let spaces = view.areas.len() as u32;
    let others = view.seats.iter().enumerate().filter(|(i, _)| *i != seat);
    let mut space = (view.seats[seat].pawn + face) % spaces;
    while others.clone().any(|(_, other)| other.pawn == space) {
        space = (space + face) % spaces;
    }
    space as usize
}

const FIRST_ROLE: u32 = 128;
const BANK: u32 = 131;

/// The lowest and the highest face that count for each role, and the points for so many dice.
const ROLES: [(u32, u32, [u32; 7]); 3] = [
    (1, 1, [0, 10, 25, 60, 120, 250, 500]),
    (2, 3, [0, 0, 10, 20, 30, 100, 180]),
    (4, 6, [0, 0, 5, 10, 20, 30, 80]),
];

/// Rolls for ones, takes the role that makes most, and never multiplies.
fn burning_desire(view: &BurningDesireView) -> u32 {
    match view.phase() {
        BurningDesirePhase::Roll => ones(&view.dice),
        BurningDesirePhase::Role => {
            FIRST_ROLE + first_of_best(&[0, 1, 2], |role| points(&view.dice, role))
        }
        _ => BANK,
    }
}

/// Keeps the dice that show a one; die i is worth 2 to the i.
fn ones(dice: &[u32]) -> u32 {
    let shown = dice.iter().enumerate().filter(|(_, face)| **face == 1);
    shown.map(|(i, _)| 1 << i).sum()
}

fn points(dice: &[u32], role: u32) -> u32 {
    let (low, high, points) = ROLES[role as usize];
    points[dice
        .iter()
        .filter(|face| (low..=high).contains(face))
        .count()]
}

/// Actions of Buttons; those below `CELLS` are the cells.
const CELLS: u32 = 36;
const ROLL: u32 = 36;
const QUIT: u32 = 37;
const PASS: u32 = 38;
const FRONT: u32 = 39;

/// Leaves the round with three buttons, and puts them where stars are in line.
fn buttons(view: &ButtonsView, seat: usize, legal: &[u32]) -> u32 {
    let own = &view.seats[seat];
    match view.phase() {
        ButtonsPhase::Side => FRONT,
        ButtonsPhase::Turn if own.buttons.len() >= 3 && legal.contains(&QUIT) => QUIT,
        ButtonsPhase::Turn => ROLL,
        _ => match legal.partition_point(|action| *action < CELLS) {
            0 => PASS,
            cells => first_of_best(&legal[..cells], |cell| stars_in_line(own, cell)),
        },
    }
}

/// The stars in a cell's row or in its column, whichever has more.
fn stars_in_line(own: &ButtonsSeat, cell: u32) -> usize {
    let row = own.stars.iter().filter(|star| **star / 6 == cell / 6);
    let column = own.stars.iter().filter(|star| **star % 6 == cell % 6);
    row.count().max(column.count())
}

/// The action that is worth most, of equal ones the first.
fn first_of_best<Worth: Ord>(actions: &[u32], worth: impl Fn(u32) -> Worth) -> u32 {
    let best = actions.iter().min_by_key(|action| Reverse(worth(**action)));
    *best.expect("an action")
}
