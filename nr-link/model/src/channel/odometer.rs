// SPDX-License-Identifier: Apache-2.0
//! The distance that the UE has moved, and its position.

use libm::{atan2, hypot};
use rand_distr::{Distribution, StandardNormal};

use super::random_streams::{Purpose, Streams};
use super::time_grid::TimeGrid;
use crate::scenario::{GaussMarkov, Mobility, Route};

/// The UE's movement as a polyline over time.
#[derive(Debug, Clone)]
pub(super) struct Odometer {
    /// Points sorted by time, the first at 0 s and the last at the scenario's end.
    waypoints: Vec<Waypoint>,
}

#[derive(Debug, Clone, Copy)]
struct Waypoint {
    t_s: f64,
    distance_m: f64,
    x_m: f64,
    y_m: f64,
}

impl Odometer {
    pub fn new(mobility: Option<&Mobility>, ticks: &TimeGrid, streams: &Streams) -> Self {
        let end_s = ticks.duration_s();
        let waypoints = match mobility {
            None => straight_line([(0.0, 0.0), (end_s, 0.0)]),
            Some(Mobility::SpeedMps(speed)) => {
                straight_line([(0.0, 0.0), (end_s, speed.get() * end_s)])
            }
            Some(Mobility::GaussMarkov(model)) => {
                straight_line(gauss_markov(model, end_s, streams))
            }
            Some(Mobility::Route(route)) => follow_route(route, end_s),
        };
        Self { waypoints }
    }

    /// Returns the distance moved in one loop of the scenario, m.
    pub fn loop_m(&self) -> f64 {
        self.waypoints[self.waypoints.len() - 1].distance_m
    }

    /// Returns the distance moved until `t_s`, m.
    pub fn distance_m(&self, t_s: f64) -> f64 {
        self.between(t_s, |waypoint| waypoint.distance_m)
    }

    /// Returns the distance on the ground between UE and origin at `t_s`, m.
    pub fn to_origin_m(&self, t_s: f64) -> f64 {
        let (x_m, y_m) = self.position_m(t_s);
        hypot(x_m, y_m)
    }

    /// Returns the direction from the origin to the UE at `t_s`, degrees clockwise from north.
    pub fn bearing_deg(&self, t_s: f64) -> f64 {
        let (x_m, y_m) = self.position_m(t_s);
        atan2(x_m, y_m).to_degrees()
    }

    fn position_m(&self, t_s: f64) -> (f64, f64) {
        (
            self.between(t_s, |waypoint| waypoint.x_m),
            self.between(t_s, |waypoint| waypoint.y_m),
        )
    }

    fn between(&self, t_s: f64, coordinate: impl Fn(&Waypoint) -> f64) -> f64 {
        let next = self
            .waypoints
            .partition_point(|waypoint| waypoint.t_s <= t_s);
        let next = next.clamp(1, self.waypoints.len() - 1);
        let (before, after) = (&self.waypoints[next - 1], &self.waypoints[next]);
        let fraction = ((t_s - before.t_s) / (after.t_s - before.t_s)).clamp(0.0, 1.0);
        coordinate(before) + fraction * (coordinate(after) - coordinate(before))
    }
}

/// Makes the points of a movement of which only the distance is known: a straight line.
fn straight_line(stamped: impl IntoIterator<Item = (f64, f64)>) -> Vec<Waypoint> {
    let waypoint = |(t_s, distance_m)| Waypoint {
        t_s,
        distance_m,
        x_m: distance_m,
        y_m: 0.0,
    };
    stamped.into_iter().map(waypoint).collect()
}

fn gauss_markov(model: &GaussMarkov, end_s: f64, streams: &Streams) -> Vec<(f64, f64)> {
    let mut stream = streams.of(Purpose::Motion);
    let (mean, memory) = (model.mean_mps.get(), model.memory.get());
    let spread = (1.0 - memory * memory).sqrt() * model.std_mps.get();
    let steps = end_s.ceil().max(1.0);
    let step_s = end_s / steps;
    let (mut speed, mut distance_m) = (mean, 0.0);
    let mut points = vec![(0.0, 0.0)];
    for step in 1..=steps as usize {
        distance_m += speed.max(0.0) * step_s;
        points.push((step as f64 * step_s, distance_m));
        let draw: f64 = StandardNormal.sample(&mut stream);
        speed = memory * speed + (1.0 - memory) * mean + spread * draw;
    }
    points
}

/// Makes the points of a route; the UE stands still before its first point and after its last one.
fn follow_route(route: &Route, end_s: f64) -> Vec<Waypoint> {
    let mut waypoints: Vec<Waypoint> = Vec::with_capacity(route.points().len() + 2);
    for point in route.points() {
        let (x_m, y_m) = (point.x_m, point.y_m);
        let distance_m = waypoints
            .last()
            .map_or(0.0, |m| m.distance_m + hypot(x_m - m.x_m, y_m - m.y_m));
        waypoints.push(Waypoint {
            t_s: point.t_s.get(),
            distance_m,
            x_m,
            y_m,
        });
    }
    let (first, last) = (waypoints[0], waypoints[waypoints.len() - 1]);
    if first.t_s > 0.0 {
        waypoints.insert(0, Waypoint { t_s: 0.0, ..first });
    }
    if last.t_s < end_s {
        waypoints.push(Waypoint { t_s: end_s, ..last });
    }
    waypoints
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::AtEnd;

    #[test]
    fn gauss_markov_has_its_mean_deviation_and_memory() {
        let model =
            serde_json::from_str(r#"{"mean_mps": 20, "std_mps": 3, "memory": 0.8}"#).unwrap();
        let seconds = 20_000.0;
        let ticks = TimeGrid::new(seconds, AtEnd::Loop);
        let odometer = Odometer::new(
            Some(&Mobility::GaussMarkov(model)),
            &ticks,
            &Streams::new(1),
        );
        let distance_m = |second: usize| odometer.distance_m(second as f64);
        let speeds: Vec<f64> = (0..20_000)
            .map(|n| distance_m(n + 1) - distance_m(n) - 20.0)
            .collect();
        let product = |lag: usize| {
            let products = speeds.iter().zip(&speeds[lag..]).map(|(a, b)| a * b);
            products.sum::<f64>() / (speeds.len() - lag) as f64
        };
        assert!((odometer.loop_m() / seconds - 20.0).abs() < 0.2);
        assert!(
            (product(0).sqrt() / 3.0 - 1.0).abs() < 0.05,
            "{}",
            product(0)
        );
        for lag in [1, 2, 4] {
            let expected = 0.8f64.powi(lag as i32);
            assert!((product(lag) / product(0) - expected).abs() < 0.04, "{lag}");
        }
    }
}
