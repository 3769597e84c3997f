//! The facts of each workload, its questions and their right answers, which no server computes.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use serde_json::{Value, json};

/// Verbs of the resources.
pub const VERBS: [&str; 4] = ["read", "write", "delete", "share"];

/// Each question with its right answer.
pub type Asked<Q, A = bool> = Vec<(Q, A)>;

/// The facts of a workload.
pub enum Facts {
    Roles(Roles),
    Attributes(Attributes),
    Relations(Relations),
    Lists(Lists),
}

/// 10,000 grants of 1,000 roles on 4,000 resources, and 10,000 users with five roles each.
pub struct Roles {
    /// Role, object and verb.
    pub grants: BTreeSet<(String, String, &'static str)>,
    pub asked: Asked<RoleQuestion>,
}

/// The roles of a user, and a verb on an object.
pub struct RoleQuestion {
    pub user: String,
    pub roles: Vec<String>,
    pub object: String,
    pub verb: &'static str,
}

/// 100 policies on one resource.
pub struct Attributes {
    pub policies: Vec<AttributePolicy>,
    pub asked: Asked<AttributeQuestion>,
}

/// A department, a clearance at least, one of some regions, and a tag.
pub struct AttributePolicy {
    pub department: String,
    pub clearance: i64,
    pub regions: Vec<String>,
    pub tag: String,
}

/// The attributes of a user and a resource.
pub struct AttributeQuestion {
    pub department: String,
    pub clearance: i64,
    pub region: String,
    pub tags: Vec<String>,
}

/// Groups in groups, folders in folders, documents and shares: 100,000 tuples.
pub struct Relations {
    pub tuples: Vec<Tuple>,
    /// Each user and document.
    pub asked: Asked<(String, String)>,
}

/// 10,000 documents, and users who see 100 and 1,000 of them.
pub struct Lists {
    pub tuples: Vec<Tuple>,
    /// Each user, with the ids of documents in order.
    pub asked: Asked<String, Vec<String>>,
}

/// A relation of an object to a subject, as `group:a`, and to those who have a relation to it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tuple {
    pub object: String,
    pub relation: &'static str,
    pub subject: String,
    pub subject_relation: Option<&'static str>,
}

impl Facts {
    /// Makes the facts of the workload with this letter.
    pub fn of(letter: char, count: usize) -> Option<Self> {
        Some(match letter {
            'A' => Self::Roles(Roles::new(count)),
            'B' => Self::Attributes(Attributes::new(count)),
            'C' => Self::Relations(Relations::new(count)),
            'D' => Self::Lists(Lists::new()),
            _ => return None,
        })
    }

    /// Returns the tuples; none of facts without relations.
    pub fn tuples(&self) -> &[Tuple] {
        match self {
            Self::Relations(relations) => &relations.tuples,
            Self::Lists(lists) => &lists.tuples,
            Self::Roles(_) | Self::Attributes(_) => &[],
        }
    }
}

fn some_of(rng: &mut Rng, prefix: &str, all: usize, count: usize) -> Vec<String> {
    let numbers = rng.choose_multiple(0..all, count);
    let mut names: Vec<String> = numbers.into_iter().map(|it| format!("{prefix}{it}")).collect();
    names.sort_unstable();
    names
}

impl Roles {
    fn new(count: usize) -> Self {
        let mut rng = Rng::with_seed(7);
        let mut grants = BTreeSet::new();
        while grants.len() < 10_000 {
            grants.insert((
                format!("r{}", rng.usize(..1_000)),
                format!("res{}", rng.usize(..1_000)),
                VERBS[rng.usize(..VERBS.len())],
            ));
        }
        let users: Vec<Vec<String>> =
            (0..10_000).map(|_| some_of(&mut rng, "r", 1_000, 5)).collect();
        let listed: Vec<_> = grants.iter().cloned().collect();
        let mut asked = Vec::with_capacity(count);
        while asked.len() < count {
            // Half of the questions are about a grant, of a user who may have its role.
            let (role, object, verb) = listed[rng.usize(..listed.len())].clone();
            let user = rng.usize(..users.len());
            let mut roles = users[user].clone();
            if asked.len() % 2 == 0 && !roles.contains(&role) {
                roles[0] = role;
            }
            let is_granted = |role: &String| grants.contains(&(role.clone(), object.clone(), verb));
            let right = roles.iter().any(is_granted);
            asked.push((RoleQuestion { user: format!("u{user}"), roles, object, verb }, right));
        }
        Self { grants, asked }
    }
}

impl Roles {
    /// Returns each role of each question with the person of the question, `q0` for the first, for servers that store roles.
    pub fn memberships(&self) -> impl Iterator<Item = (&str, String)> {
        let people = self.asked.iter().enumerate();
        people.flat_map(|(number, (it, _))| {
            it.roles.iter().map(move |role| (role.as_str(), format!("q{number}")))
        })
    }
}

impl Tuple {
    /// Returns the subject as `group:a#member`.
    pub fn subject_with_relation(&self) -> String {
        match self.subject_relation {
            Some(relation) => format!("{}#{relation}", self.subject),
            None => self.subject.clone(),
        }
    }
}

impl AttributePolicy {
    /// Returns what a condition (a caveat) of a tuple is compared with.
    pub fn context(&self) -> Value {
        json!({"d": self.department, "c": self.clearance, "rs": self.regions, "t": self.tag})
    }

    fn holds(&self, of: &AttributeQuestion) -> bool {
        of.department == self.department
            && of.clearance >= self.clearance
            && self.regions.contains(&of.region)
            && of.tags.contains(&self.tag)
    }
}

impl AttributeQuestion {
    /// Returns what a condition (a caveat) reads of the question.
    pub fn context(&self) -> Value {
        json!({
            "department": self.department, "clearance": self.clearance, "region": self.region, "tags": self.tags,
        })
    }
}

impl Attributes {
    fn new(count: usize) -> Self {
        let mut rng = Rng::with_seed(11);
        let policy = |rng: &mut Rng| AttributePolicy {
            department: format!("d{}", rng.usize(..50)),
            clearance: rng.i64(1..=10),
            regions: some_of(rng, "g", 20, 5),
            tag: format!("t{}", rng.usize(..8)),
        };
        let policies: Vec<AttributePolicy> = (0..100).map(|_| policy(&mut rng)).collect();
        let mut asked = Vec::with_capacity(count);
        while asked.len() < count {
            let of = &policies[rng.usize(..policies.len())];
            let is_hit = asked.len() % 2 == 0;
            let question = AttributeQuestion {
                department: match is_hit {
                    true => of.department.clone(),
                    false => format!("d{}", rng.usize(..60)),
                },
                clearance: rng.i64(0..11),
                region: of.regions[rng.usize(..of.regions.len())].clone(),
                tags: some_of(&mut rng, "t", 8, 4),
            };
            let right = policies.iter().any(|policy| policy.holds(&question));
            if right || !is_hit {
                asked.push((question, right));
            }
        }
        Self { policies, asked }
    }
}

fn tuple(object: String, relation: &'static str, subject: String) -> Tuple {
    Tuple { object, relation, subject, subject_relation: None }
}

fn of_members(object: String, relation: &'static str, group: String) -> Tuple {
    Tuple { object, relation, subject: group, subject_relation: Some("member") }
}

/// The tuples by what a walk asks for.
struct Graph<'t> {
    parents: BTreeMap<&'t str, Vec<&'t str>>,
    groups: BTreeMap<&'t str, Vec<&'t str>>,
    viewers: BTreeMap<&'t str, BTreeSet<&'t str>>,
}

impl<'t> Graph<'t> {
    fn new(tuples: &'t [Tuple]) -> Self {
        let (mut parents, mut groups, mut viewers) =
            (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for Tuple { object, relation, subject, .. } in tuples {
            let (object, subject) = (object.as_str(), subject.as_str());
            match *relation {
                "parent" => parents.entry(object).or_insert_with(Vec::new).push(subject),
                "member" => groups.entry(subject).or_insert_with(Vec::new).push(object),
                _ => drop(viewers.entry(object).or_insert_with(BTreeSet::new).insert(subject)),
            }
        }
        Self { parents, groups, viewers }
    }

    fn sees<'q>(&'q self, user: &'q str, document: &'q str) -> bool
    where
        't: 'q,
    {
        let subjects = reach(&self.groups, user);
        let has =
            |object: &&str| self.viewers.get(object).is_some_and(|it| !it.is_disjoint(&subjects));
        reach(&self.parents, document).iter().any(has)
    }
}

fn reach<'t>(edges: &BTreeMap<&'t str, Vec<&'t str>>, start: &'t str) -> BTreeSet<&'t str> {
    let (mut seen, mut open) = (BTreeSet::from([start]), vec![start]);
    while let Some(at) = open.pop() {
        for next in edges.get(at).into_iter().flatten() {
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    seen
}

impl Relations {
    fn new(count: usize) -> Self {
        const DOCUMENTS: usize = 50_000;
        let mut rng = Rng::with_seed(13);
        let mut tuples = BTreeSet::new();
        for i in 0..1_000 {
            tuples.insert(of_members(
                format!("group:m{}", i / 10),
                "member",
                format!("group:l{i}"),
            ));
        }
        for i in 0..100 {
            tuples.insert(of_members(
                format!("group:t{}", i / 10),
                "member",
                format!("group:m{i}"),
            ));
        }
        for user in 0..10_000 {
            for group in rng.choose_multiple(0..1_000, 2) {
                tuples.insert(tuple(format!("group:l{group}"), "member", format!("user:u{user}")));
            }
        }
        // Ten roots, then 100, 900 and 5,000 folders below those before.
        for (folders, parents) in
            [(10..110, 0..10), (110..1_010, 10..110), (1_010..6_010, 110..1_010)]
        {
            for folder in folders {
                let parent = rng.usize(parents.clone());
                tuples.insert(tuple(
                    format!("folder:f{folder}"),
                    "parent",
                    format!("folder:f{parent}"),
                ));
            }
        }
        for document in 0..DOCUMENTS {
            let folder = rng.usize(1_010..6_010);
            tuples.insert(tuple(
                format!("document:d{document}"),
                "parent",
                format!("folder:f{folder}"),
            ));
        }
        for (folders, kind, groups) in
            [(0..3, 't', 10), (10..110, 'm', 100), (110..6_010, 'l', 1_000)]
        {
            for folder in folders {
                let group = format!("group:{kind}{}", rng.usize(..groups));
                tuples.insert(of_members(format!("folder:f{folder}"), "viewer", group));
            }
        }
        while tuples.len() < 100_000 {
            let document = format!("document:d{}", rng.usize(..DOCUMENTS));
            tuples.insert(match rng.usize(..10) {
                0 => of_members(document, "viewer", format!("group:l{}", rng.usize(..1_000))),
                _ => tuple(document, "viewer", format!("user:u{}", rng.usize(..10_000))),
            });
        }
        let mut tuples: Vec<Tuple> = tuples.into_iter().collect();
        rng.shuffle(&mut tuples);
        let graph = Graph::new(&tuples);
        let (mut asked, mut allowed) = (Vec::with_capacity(count), 0);
        while asked.len() < count {
            let (user, document) = (rng.usize(..10_000), rng.usize(..DOCUMENTS));
            let question = (format!("user:u{user}"), format!("document:d{document}"));
            let right = graph.sees(&question.0, &question.1);
            let same = if right { allowed } else { asked.len() - allowed };
            if same < count.div_ceil(2) {
                allowed += usize::from(right);
                asked.push((question, right));
            }
        }
        Self { tuples, asked }
    }
}

impl Lists {
    fn new() -> Self {
        let mut tuples = Vec::new();
        for i in 0..1_000 {
            tuples.push(tuple(
                format!("folder:f1{i:03}"),
                "parent",
                format!("folder:f2{:02}", i / 10),
            ));
        }
        for i in 0..100 {
            tuples.push(tuple(
                format!("folder:f2{i:02}"),
                "parent",
                format!("folder:f3{}", i / 10),
            ));
        }
        for i in 0..10_000 {
            tuples.push(tuple(
                format!("document:d{i}"),
                "parent",
                format!("folder:f1{:03}", i / 10),
            ));
        }
        let mut users = Vec::new();
        for i in 0..20 {
            let few = format!("folder:f2{:02}", i * 5);
            let many = format!("folder:f3{}", i % 10);
            for (kind, folder) in [('h', few), ('k', many)] {
                let user = format!("user:{kind}{i}");
                tuples.push(tuple(format!("group:{kind}a{i}"), "member", user.clone()));
                tuples.push(of_members(
                    format!("group:{kind}b{i}"),
                    "member",
                    format!("group:{kind}a{i}"),
                ));
                tuples.push(of_members(folder, "viewer", format!("group:{kind}b{i}")));
                users.push(user);
            }
        }
        let documents: Vec<String> = (0..10_000).map(|i| format!("document:d{i}")).collect();
        let graph = Graph::new(&tuples);
        let seen = |user: &String| {
            let seen = documents.iter().filter(|document| graph.sees(user, document));
            let mut ids: Vec<String> = seen.map(|it| it["document:".len()..].to_owned()).collect();
            ids.sort_unstable();
            ids
        };
        let lists: Vec<Vec<String>> = users.iter().map(seen).collect();
        Self { tuples, asked: users.into_iter().zip(lists).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_answers_allow_and_lists_have_100_and_1_000_ids() {
        let half = |allowed: usize| (400..=600).contains(&allowed);
        let roles = Roles::new(1_000);
        assert!(half(roles.asked.iter().filter(|(_, right)| *right).count()));
        let attributes = Attributes::new(1_000);
        assert!(half(attributes.asked.iter().filter(|(_, right)| *right).count()));
        let relations = Relations::new(1_000);
        assert_eq!(relations.tuples.len(), 100_000);
        assert_eq!(relations.asked.iter().filter(|(_, right)| *right).count(), 500);
        for (user, ids) in Lists::new().asked {
            assert_eq!(ids.len(), if user.starts_with("user:h") { 100 } else { 1_000 }, "{user}");
        }
    }
}
