//! Examples without roles, and those about attributes.

use super::super::support::*;
use super::example::Example;

/// The examples, all of which are imported.
pub(super) const ATTRIBUTES: [Example; 17] = [
    Example {
        name: "abac_model",
        model: ["sub, obj, act", "sub, obj, act", "", ALLOW_OVERRIDE, "r.sub == r.obj.Owner"],
        policy: "",
        allowed: "alice data1 read resource.Owner=alice, alice data1 write resource.Owner=alice, \
             bob data2 read resource.Owner=bob, bob data2 write resource.Owner=bob",
        denied: "alice data2 read resource.Owner=bob, alice data2 write resource.Owner=bob, \
             bob data1 read resource.Owner=alice",
    },
    Example {
        name: "abac_not_using_policy_model",
        model: ["sub, obj, act", "sub, obj, act, eft", "", ALLOW_AND_DENY, "r.sub == r.obj.Owner"],
        policy: "p, alice, data1, read, deny\n",
        allowed: "alice data1 read resource.Owner=alice, alice data1 write resource.Owner=alice, \
             bob data2 read resource.Owner=bob, bob data2 write resource.Owner=bob",
        denied: "alice data2 read resource.Owner=bob, alice data2 write resource.Owner=bob, \
             bob data1 read resource.Owner=alice",
    },
    Example {
        name: "abac_rule_model",
        model: [
            "sub, obj, act",
            "sub_rule, obj, act",
            "",
            ALLOW_OVERRIDE,
            "r.obj == p.obj && r.act == p.act && eval(p.sub_rule)",
        ],
        policy: "p, r.sub.Age > 18, /data1, read\np, r.sub.Age < 60, /data2, write\n",
        allowed: "alice /data2 write user.Age=16, alice /data1 read user.Age=20, alice /data2 write user.Age=20, \
             alice /data1 read user.Age=65",
        denied: "alice /data1 read user.Age=16, alice /data2 read user.Age=16, alice /data1 write user.Age=16, \
             alice /data2 read user.Age=20, alice /data1 write user.Age=20, alice /data2 write user.Age=65, \
             alice /data1 write user.Age=65",
    },
    Example {
        name: "basic_model",
        model: ["sub, obj, act", "sub, obj, act", "", ALLOW_OVERRIDE, PLAIN],
        policy: "p, alice, data1, read\np, bob, data2, write\n",
        allowed: "alice data1 read, bob data2 write",
        denied: "alice data1 write, alice data2 read, alice data2 write, bob data1 read, bob data1 write, \
             bob data2 read",
    },
    Example {
        name: "basic_model_without_spaces",
        model: ["sub,obj,act", "sub,obj,act", "", ALLOW_OVERRIDE, PLAIN],
        policy: "p, alice, data1, read\np, bob, data2, write\n",
        allowed: "alice data1 read, bob data2 write",
        denied: "alice data1 write, alice data2 read, alice data2 write, bob data1 read, bob data1 write, \
             bob data2 read",
    },
    Example {
        name: "basic_with_root_model",
        model: [
            "sub, obj, act",
            "sub, obj, act",
            "",
            ALLOW_OVERRIDE,
            "r.sub == p.sub && r.obj == p.obj && r.act == p.act || r.sub == \"root\"",
        ],
        policy: "p, alice, data1, read\np, bob, data2, write\n",
        allowed: "alice data1 read, bob data2 write, root data1 read, root data1 write, root data2 read",
        denied: "alice data1 write, alice data2 read, alice data2 write, bob data1 read, bob data1 write, \
             bob data2 read",
    },
    Example {
        name: "basic_without_users_model",
        model: ["obj, act", "obj, act", "", ALLOW_OVERRIDE, "r.obj == p.obj && r.act == p.act"],
        policy: "p, data1, read\np, data2, write\n",
        allowed: "data1 read, data2 write",
        denied: "data1 write, data2 read",
    },
    Example {
        name: "basic_without_resources_model",
        model: ["sub, act", "sub, act", "", ALLOW_OVERRIDE, "r.sub == p.sub && r.act == p.act"],
        policy: "p, alice, read\np, bob, write\n",
        allowed: "alice read, bob write",
        denied: "alice write, bob read",
    },
    Example {
        name: "biba_model",
        model: [
            "sub, sub_level, obj, obj_level, act",
            "sub, obj, act",
            "g = _, _\n",
            ALLOW_OVERRIDE,
            "(r.act == \"read\"  && r.sub_level <= r.obj_level) || (r.act == \"write\" && r.sub_level >= r.obj_level)",
        ],
        policy: "",
        allowed: "bob 2 data2 2 read, charlie 1 data1 1 read, bob 2 data3 3 read, alice 3 data3 3 write, \
             alice 3 data1 1 write, bob 2 data1 1 write",
        denied: "alice 3 data1 1 read, bob 2 data3 3 write, charlie 1 data2 2 write",
    },
    Example {
        name: "blp_model",
        model: [
            "sub, sub_level, obj, obj_level, act",
            "sub, obj, act",
            "g = _, _\n",
            ALLOW_OVERRIDE,
            "(r.act == \"read\" && r.sub_level >= r.obj_level) || \\\n    (r.act == \"write\" && r.sub_level <= r.obj_level) ",
        ],
        policy: "",
        allowed: "alice 3 data1 1 read, bob 2 data2 2 read, bob 2 data3 3 write, charlie 1 data2 2 write",
        denied: "charlie 1 data2 2 read, alice 3 data1 1 write",
    },
    Example {
        name: "lbac_model",
        model: [
            "sub, sub_conf, sub_integ, obj, obj_conf, obj_integ, act",
            "sub, obj, act",
            "g = _, _\n",
            ALLOW_OVERRIDE,
            "(r.act == \"read\" && r.sub_conf >= r.obj_conf && r.sub_integ >= r.obj_integ) || (r.act == \"write\" && r.sub_conf <= r.obj_conf && r.sub_integ <= r.obj_integ)",
        ],
        policy: "",
        allowed: "admin 5 5 top 3 3 read, manager 4 4 secret 4 2 read, staff 3 3 internal 2 3 read, \
             staff 3 3 internal 5 4 write, manager 4 4 secret 4 5 write",
        denied: "staff 3 3 secret 4 2 read, manager 4 4 sensitive 3 5 read, manager 4 4 internal 3 5 write, \
             admin 5 5 secret 5 4 write, guest 2 2 private 1 3 write",
    },
    Example {
        name: "comment_model",
        model: [
            "sub, obj, act ; Request definition",
            "sub, obj, act",
            "",
            "some(where (p.eft == allow)) # This is policy effect.",
            PLAIN,
        ],
        policy: "p, alice, data1, read\np, bob, data2, write\n",
        allowed: "alice data1 read, bob data2 write",
        denied: "alice data1 write, alice data2 read, alice data2 write, bob data1 read, bob data1 write, \
             bob data2 read",
    },
    Example {
        name: "eval_operator_model",
        model: [
            "sub, obj, act",
            "sub_rule, obj_rule, act",
            "",
            ALLOW_OVERRIDE,
            "(p.act == '*' || r.act == p.act) && eval(p.sub_rule) && eval(p.obj_rule)",
        ],
        policy: "p, r.sub == 'admin' || false, r.obj == 'users', write\n",
        allowed: "admin users write",
        denied: "admin none write, user users write, admin users read",
    },
    Example {
        name: "object_conditions_model",
        model: [
            "sub, obj, act",
            "sub, sub_rule, act",
            "g = _, _\n",
            ALLOW_OVERRIDE,
            "g(r.sub, p.sub) && eval(p.sub_rule) && r.act == p.act",
        ],
        policy: "p, alice, r.obj.price < 25, read\np, admin, r.obj.category_id == 2, read\np, bob, \
             r.obj.author == 'bob', write\ng, alice, admin\n",
        allowed: "alice book read resource.price=10, alice book read resource.price=30 resource.category_id=2, \
             bob book write resource.author=bob",
        denied: "alice book read resource.price=30 resource.category_id=1, bob book write resource.author=eve, \
             bob book read resource.price=10 resource.category_id=2",
    },
    Example {
        name: "pbac_model",
        model: [
            "sub, obj, act",
            "sub_rule, obj_rule, act",
            "",
            ALLOW_OVERRIDE,
            "eval(p.sub_rule) && eval(p.obj_rule) && r.act == p.act",
        ],
        policy: "p, r.sub.Role == 'admin', r.obj.Type == 'doc', read\np, r.sub.Age >= 18, r.obj.Type == 'video', \
             play\n",
        allowed: "someone thing read user.Role=admin user.Age=25 resource.Type=doc, \
             someone thing play user.Role=user user.Age=18 resource.Type=video, \
             someone thing play user.Role=user user.Age=25 resource.Type=video, \
             someone thing play user.Role=admin user.Age=30 resource.Type=video",
        denied: "someone thing read user.Role=user user.Age=25 resource.Type=doc, \
             someone thing write user.Role=admin user.Age=25 resource.Type=doc, \
             someone thing read user.Role=admin user.Age=25 resource.Type=video, \
             someone thing play user.Role=user user.Age=16 resource.Type=video, \
             someone thing read user.Role=user user.Age=20 resource.Type=video, \
             someone thing play user.Role=user user.Age=20 resource.Type=doc, \
             someone thing access user.Role=guest user.Age=15 resource.Type=secret",
    },
    Example {
        name: "rbac_with_abac_rule_model",
        model: [
            "sub, obj, act, ctx",
            "sub, obj, act, ctx_rule, eft",
            "g = _, _\n",
            ALLOW_AND_DENY,
            "g(r.sub, p.sub) && (r.obj == p.obj) && (r.act == p.act || p.act == \"*\") && (p.ctx_rule == \"noRule\" || eval(p.ctx_rule))",
        ],
        policy: "p, admin, data1, read, noRule, allow\np, admin, data1, read, \
             r.ctx.age < 18 || r.ctx.type == 'minor', deny\np, admin, data2, write, noRule, allow\np, admin, \
             data2, write, r.ctx.network == 'http', deny\np, admin, data3, *, noRule, allow\ng, alice, admin\ng, \
             bob, admin\n",
        allowed: "alice data1 read x user.ctx.age=20 user.ctx.type=adult, bob data2 write x user.ctx.network=https, \
             alice data3 delete x",
        denied: "alice data1 read x user.ctx.age=17 user.ctx.type=adult, bob data2 write x user.ctx.network=http, \
             eve data3 read x, alice data1 read x user.ctx.age=30 user.ctx.type=minor",
    },
    Example {
        name: "syntax_matcher_model",
        model: [
            "sub, obj, act",
            "sub, obj, act",
            "",
            "some(where (p_eft == allow))",
            "r.sub == \"a.p.p.l.e\"",
        ],
        policy: "",
        allowed: "a.p.p.l.e file read, a.p.p.l.e file write",
        denied: "other file read",
    },
];
