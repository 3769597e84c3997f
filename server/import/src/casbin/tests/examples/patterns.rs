//! Examples with patterns, with priorities, and with organizations.

use super::super::support::*;
use super::example::Example;

/// The examples, all of which are imported.
pub(super) const PATTERNS: [Example; 11] = [
    Example {
        name: "glob_model",
        model: [
            "sub, obj, act",
            "sub, obj, act",
            "",
            ALLOW_OVERRIDE,
            "r.sub == p.sub && r.act == p.act && globMatch(r.obj, p.obj)",
        ],
        policy: "p, u1, /foo/*, read\np, u2, /foo*, read\np, u3, /*/foo/*, read\np, u4, *, read\n",
        allowed: "u1 /foo/ read, u1 /foo/subprefix read, u2 /foosubprefix read, u3 /prefix/foo/subprefix read, \
             u3 /prefix/foo/ read, u4 foo read",
        denied: "u1 /foo read, u1 foo read, u2 /foo/subprefix read, u2 foo read, u3 /prefix/foo read, u4 /foo read",
    },
    Example {
        name: "ipmatch_model",
        model: [
            "sub, obj, act",
            "sub, obj, act",
            "",
            ALLOW_OVERRIDE,
            "ipMatch(r.sub, p.sub) && r.obj == p.obj && r.act == p.act",
        ],
        policy: "p, 192.168.2.0/24, data1, read\np, 10.0.0.0/16, data2, write\n",
        allowed: "192.168.2.123 data1 read, 10.0.0.5 data2 write",
        denied: "192.168.2.123 data1 write, 192.168.2.123 data2 read, 192.168.0.123 data1 read, 10.0.0.5 data1 read, \
             192.168.0.1 data2 write",
    },
    Example {
        name: "keyget_model",
        model: [
            "sub, obj, act",
            "sub, obj, act",
            "",
            ALLOW_OVERRIDE,
            "r.sub == p.sub && (r.obj == p.obj || keyGet(r.obj, p.obj) in ('age','name')) && regexMatch(r.act, p.act)",
        ],
        policy: "p, alice, /data/*, GET\n",
        allowed: "alice /data/age GET, alice /data/name GET",
        denied: "alice /data/other GET, alice /data/age POST, bob /data/age GET",
    },
    Example {
        name: "keyget2_model",
        model: [
            "sub, obj, act",
            "sub, obj, act",
            "",
            ALLOW_OVERRIDE,
            "r.sub == p.sub && keyGet2(r.obj, p.obj, 'resource') in ('age', 'name') && regexMatch(r.act, p.act)",
        ],
        policy: "p, alice, /data/:resource, GET\n",
        allowed: "alice /data/age GET, alice /data/name GET",
        denied: "alice /data/other GET, alice /data/age POST, bob /data/age GET",
    },
    Example {
        name: "keymatch_model",
        model: [
            "sub, obj, act",
            "sub, obj, act",
            "",
            ALLOW_OVERRIDE,
            "r.sub == p.sub && keyMatch(r.obj, p.obj) && regexMatch(r.act, p.act)",
        ],
        policy: "p, alice, /alice_data/*, GET\np, alice, /alice_data/resource1, POST\np, bob, /alice_data/resource2, \
             GET\np, bob, /bob_data/*, POST\np, cathy, /cathy_data, (GET)|(POST)\n",
        allowed: "alice /alice_data/resource1 GET, alice /alice_data/resource1 POST, alice /alice_data/resource2 GET, \
             bob /alice_data/resource2 GET, bob /bob_data/resource1 POST, bob /bob_data/resource2 POST, \
             cathy /cathy_data GET, cathy /cathy_data POST",
        denied: "alice /alice_data/resource2 POST, alice /bob_data/resource1 GET, alice /bob_data/resource2 POST, \
             bob /alice_data/resource1 GET, bob /alice_data/resource2 POST, bob /bob_data/resource1 GET, \
             cathy /cathy_data DELETE",
    },
    Example {
        name: "keymatch2_model",
        model: [
            "sub, obj, act",
            "sub, obj, act",
            "",
            ALLOW_OVERRIDE,
            "r.sub == p.sub && keyMatch2(r.obj, p.obj) && regexMatch(r.act, p.act)",
        ],
        policy: "p, alice, /alice_data/:resource, GET\np, alice, /alice_data2/:id/using/:resId, GET\n",
        allowed: "alice /alice_data/resource1 GET, alice /alice_data2/myid/using/res_id GET",
        denied: "alice /alice_data GET, alice /alice_data2/myid GET",
    },
    Example {
        name: "keymatch_with_rbac_in_domain",
        model: [
            "sub, dom, obj, act",
            "sub, dom, obj, act",
            "g = _, _, _\n",
            ALLOW_OVERRIDE,
            "g(r.sub, p.sub, r.dom) && keyMatch(r.dom, p.dom) && keyMatch(r.obj, p.obj) && regexMatch(r.act, p.act)",
        ],
        policy: "g, can_manage, can_use, *\np, can_manage, engines/*, *, (pause)|(resume)\np, can_use, engines/*, *, \
             (attach)|(detach)\ng, test2, can_manage, engines/engine1\n",
        allowed: "test2 engines/engine1 engine1 pause, test2 engines/engine1 engine1 attach",
        denied: "test2 engines/engine2 engine1 pause, test1 engines/engine1 engine1 pause",
    },
    Example {
        name: "orbac_model",
        model: [
            "sub, org, obj, act",
            "role, activity, view, org",
            "g = _, _, _\ng2 = _, _, _\ng3 = _, _, _\n",
            ALLOW_OVERRIDE,
            "g(r.sub, p.role, r.org) && g2(r.act, p.activity, r.org) && g3(r.obj, p.view, r.org) && r.org == p.org",
        ],
        policy: "p, manager, modify, documents, org1\np, manager, consult, documents, org1\np, employee, consult, \
             documents, org1\np, manager, consult, reports, org2\np, manager, modify, reports, org2\np, \
             employee, consult, reports, org2\ng, alice, manager, org1\ng, bob, employee, org1\ng, charlie, \
             manager, org2\ng, david, employee, org2\ng2, read, consult, org1\ng2, write, modify, org1\ng2, \
             read, consult, org2\ng2, write, modify, org2\ng3, data1, documents, org1\ng3, data2, documents, \
             org1\ng3, report1, reports, org2\ng3, report2, reports, org2\n",
        allowed: "alice org1 data1 read, alice org1 data1 write, alice org1 data2 write, bob org1 data1 read, \
             charlie org2 report1 write, david org2 report2 read",
        denied: "bob org1 data1 write, david org2 report1 write, alice org2 report1 read, charlie org1 data1 read, \
             alice org1 report1 read, charlie org2 data1 read",
    },
    Example {
        name: "priority_model",
        model: ["sub, obj, act", "sub, obj, act, eft", "g = _, _\n", PRIORITY, BY_ROLE],
        policy: "p, alice, data1, read, allow\np, data1_deny_group, data1, read, deny\np, data1_deny_group, data1, \
             write, deny\np, alice, data1, write, allow\ng, alice, data1_deny_group\np, data2_allow_group, \
             data2, read, allow\np, bob, data2, read, deny\np, bob, data2, write, deny\ng, bob, \
             data2_allow_group\n",
        allowed: "alice data1 read, bob data2 read",
        denied: "alice data1 write, alice data2 read, alice data2 write, bob data1 read, bob data1 write, \
             bob data2 write",
    },
    Example {
        name: "priority_model_explicit",
        model: ["sub, obj, act", "priority, sub, obj, act, eft", "g = _, _\n", PRIORITY, BY_ROLE],
        policy: "p, 10, data1_deny_group, data1, read, deny\np, 10, data1_deny_group, data1, write, deny\np, 10, \
             data2_allow_group, data2, read, allow\np, 10, data2_allow_group, data2, write, allow\np, 1, alice, \
             data1, write, allow\np, 1, alice, data1, read, allow\np, 1, bob, data2, read, deny\ng, bob, \
             data2_allow_group\ng, alice, data1_deny_group\n",
        allowed: "alice data1 write, alice data1 read, bob data2 write, data2_allow_group data2 read, \
             data2_allow_group data2 write",
        denied: "bob data2 read, data1_deny_group data1 read, data1_deny_group data1 write",
    },
    Example {
        name: "priority_model_explicit_customized",
        model: [
            "subject, obj, act",
            "priority, obj, act, eft, subject",
            "g = _, _\n",
            PRIORITY,
            "g(r.subject, p.subject) && r.obj == p.obj && r.act == p.act",
        ],
        policy: "p, 10, data1, read, deny, data1_deny_group\np, 10, data1, write, deny, data1_deny_group\np, 10, \
             data2, read, allow, data2_allow_group\np, 10, data2, write, allow, data2_allow_group\np, 1, data1, \
             write, allow, alice\np, 1, data1, read, allow, alice\np, 1, data2, read, deny, bob\ng, bob, \
             data2_allow_group\ng, alice, data1_deny_group\n",
        allowed: "alice data1 write, alice data1 read, bob data2 write, data2_allow_group data2 read, \
             data2_allow_group data2 write",
        denied: "bob data2 read, data1_deny_group data1 read, data1_deny_group data1 write",
    },
];
