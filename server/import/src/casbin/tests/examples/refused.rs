//! The examples that are refused.

use super::super::support::*;
use super::example::Example;

/// The examples, each with a part of the reason.
pub(super) const REFUSED: [(Example, &str); 16] = [
    (
        Example {
            name: "abac_with_rbac",
            model: [
                "sub, obj, act",
                "sub, obj, act",
                "g = _, _\n",
                ALLOW_OVERRIDE,
                "(g(r.sub, p.sub) || eval(p.sub)) && r.act == p.act",
            ],
            policy: "p, r.sub == r.obj.Author, post, write\np, admin, post, write\n",
            allowed: "",
            denied: "",
        },
        "`admin`: ",
    ),
    (
        Example {
            name: "allmatch_model",
            model: [
                "sub, obj, act",
                "sub, obj, act",
                "",
                ALLOW_OVERRIDE,
                "r.sub == p.sub && allMatch(r.obj, p.obj) && r.act == p.act",
            ],
            policy: "p, alice, data1, read\np, bob, data2, write\n",
            allowed: "",
            denied: "",
        },
        "the function `allMatch` is not known",
    ),
    (
        Example {
            name: "domainmatch_model",
            model: [
                "sub, dom, obj, act",
                "sub, dom, obj, act",
                "g = _, _, _\n",
                ALLOW_OVERRIDE,
                "g(r.sub, p.sub, r.dom) && allMatch(r.dom, p.dom) && r.obj == p.obj && r.act == p.act",
            ],
            policy: "p, admin, domain1, data1, read\np, admin, domain1, data1, write\np, admin, domain2, data2, read\np, \
             admin, domain2, data2, write\ng, alice, admin, domain1\ng, bob, admin, domain2\n",
            allowed: "",
            denied: "",
        },
        "the function `allMatch` is not known",
    ),
    (
        Example {
            name: "keymatch_custom_model",
            model: [
                "sub, obj, act",
                "sub, obj, act",
                "",
                ALLOW_OVERRIDE,
                "r.sub == p.sub && keyMatchCustom(r.obj, p.obj) && regexMatch(r.act, p.act)",
            ],
            policy: "p, alice, data1, read\np, bob, data2, write\n",
            allowed: "",
            denied: "",
        },
        "the function `keyMatchCustom` is not known",
    ),
    (
        Example {
            name: "ai_policy_model",
            model: [
                "sub, obj, act",
                "sub, obj, act\n[ai_policy_definition]\na = prompt",
                "",
                ALLOW_OVERRIDE,
                PLAIN,
            ],
            policy: "p, 192.168.2.0/24, data1, read\np, 10.0.0.0/16, data2, write\n",
            allowed: "",
            denied: "",
        },
        "remove it if the decisions do not need it",
    ),
    (
        Example {
            name: "multiple_policy_definitions_model",
            model: [
                "sub, obj, act\nr2 = sub, obj, act",
                "sub, obj, act\np2 = sub_rule, obj, act, eft",
                "g = _, _\n",
                ALLOW_OVERRIDE,
                "g(r.sub, p.sub) && r.obj == p.obj && r.act == p.act\nm2 = r2.obj == p2.obj && eval(p2.sub_rule)",
            ],
            policy: "p, alice, data1, read\np, bob, data2, write\np, data2_admin, data2, read\np, data2_admin, data2, \
             write\ng, alice, data2_admin\n",
            allowed: "",
            denied: "",
        },
        "import it as a model of its own",
    ),
    (
        Example {
            name: "priority_model_enforce_context",
            model: [
                "sub, obj, act\nr2 = sub, obj",
                "sub, obj, act, eft",
                "g = _, _\n",
                PRIORITY,
                "g(r.sub, p.sub) && r.obj == p.obj && r.act == p.act\nm2 = g(r2.sub, p.sub)",
            ],
            policy: "p, alice, data1, read, allow\np, bob, data2, write, allow\np, data2_admin, data2, read, allow\np, \
             data2_admin, data2, write, allow\np, alice, data2, write, deny\ng, alice, data2_admin\n",
            allowed: "",
            denied: "",
        },
        "import it as a model of its own",
    ),
    (
        Example {
            name: "priority_explicit_override_model",
            model: [
                "sub, obj, act",
                "priority, sub, obj, act, eft",
                "g = _, _\n",
                "priority(p_eft) && !some(where (p_eft == deny))",
                BY_ROLE,
            ],
            policy: "p, 10, data1_deny_group, data1, read, deny\np, 10, data1_deny_group, data1, write, deny\np, 10, \
             data2_allow_group, data2, read, allow\np, 10, data2_allow_group, data2, write, allow\np, 1, alice, \
             data1, write, allow\np, 1, alice, data1, read, allow\np, 1, bob, data2, read, deny\ng, bob, \
             data2_allow_group\ng, alice, data1_deny_group\n",
            allowed: "",
            denied: "",
        },
        "use one of Casbin",
    ),
    (
        Example {
            name: "subject_priority_model",
            model: [
                "sub, obj, act",
                "sub, obj, act, eft",
                "g = _, _\n",
                "subjectPriority(p.eft) || deny",
                BY_ROLE,
            ],
            policy: "p, alice, data1, read, allow\np, bob, data2, write, allow\np, data2_admin, data2, read, allow\np, \
             data2_admin, data2, write, allow\np, alice, data2, write, deny\ng, alice, data2_admin\n",
            allowed: "",
            denied: "",
        },
        "number the lines",
    ),
    (
        Example {
            name: "rbac_with_temporal_roles_model",
            model: [
                "sub, obj, act",
                "sub, obj, act",
                "g = _, _, (_, _)\n",
                ALLOW_OVERRIDE,
                BY_ROLE,
            ],
            policy: "p, alice, data1, read\np, bob, data2, write\np, data2_admin, data2, read\np, data2_admin, data2, \
             write\ng, alice, data2_admin\n",
            allowed: "",
            denied: "",
        },
        "write a policy for roles with conditions",
    ),
    (
        Example {
            name: "rbac_with_different_types_of_roles_model",
            model: [
                "sub, obj, act",
                "sub, dom, obj, act",
                "g = _, _, _, (_, _)\ng2 = _, _\n",
                ALLOW_OVERRIDE,
                "g(r.sub, p.sub, p.dom) && g2(r.obj, p.dom) && regexMatch(r.act, p.act)",
            ],
            policy: "",
            allowed: "",
            denied: "",
        },
        "write a policy for roles with conditions",
    ),
    (
        Example {
            name: "rbac_model_with_sessions",
            model: [
                "sub, obj, act, time",
                "sub, obj, act",
                "g = _, _, _, _\n",
                ALLOW_AND_DENY,
                BY_ROLE,
            ],
            policy: "p, alice, data1, read\np, bob, data2, write\np, data2_admin, data2, read\np, data2_admin, data2, \
             write\ng, alice, data2_admin\n",
            allowed: "",
            denied: "",
        },
        "write a policy for roles with conditions",
    ),
    (
        Example {
            name: "rbac_with_early_return_model",
            model: [
                "sub, obj, act",
                "sub, obj, act",
                "g = _, _\ng2 = _, _\n",
                ALLOW_OVERRIDE,
                "{ let role_match = g(r.sub, p.sub) return role_match }",
            ],
            policy: "p, alice, data1, read\np, bob, data2, write\np, data2_admin, data2, read\np, data2_admin, data2, \
             write\ng, alice, data2_admin\n",
            allowed: "",
            denied: "",
        },
        "a block of statements",
    ),
    (
        Example {
            name: "rebac_model",
            model: [
                "sub, obj, act",
                "role, obj_type, act",
                "g = _, _, _\ng2 = _, _\n",
                ALLOW_OVERRIDE,
                "g(r.sub, r.obj, p.role) && g2(r.obj, p.obj_type) && r.act == p.act",
            ],
            policy: "p, collaborator, doc, read\ng, alice, doc1, collaborator\n",
            allowed: "",
            denied: "",
        },
        "must be a known role",
    ),
    (
        Example {
            name: "rbac_with_resource_scope_tenant_model",
            model: [
                "sub, tenant, obj, act",
                "sub, tenant, obj, act",
                "g = _, _, _\n",
                ALLOW_OVERRIDE,
                "g(r.sub, p.sub, r.tenant + \"::\" + r.obj) && r.tenant == p.tenant",
            ],
            policy: "p, admin, domain1, data1, read\np, admin, domain1, data1, write\np, admin, domain2, data2, read\np, \
             admin, domain2, data2, write\ng, alice, admin, domain1\ng, bob, admin, domain2\n",
            allowed: "",
            denied: "",
        },
        "",
    ),
    (
        Example {
            name: "rbac_with_constraints_model",
            model: [
                "sub, obj, act",
                "sub, obj, act",
                "g = _, _\n[constraint_definition]\nc = roleMax(\"superadmin\", 2)\n",
                ALLOW_OVERRIDE,
                BY_ROLE,
            ],
            policy: "p, alice, data1, read\np, bob, data2, write\np, data2_admin, data2, read\np, data2_admin, data2, \
             write\ng, alice, data2_admin\n",
            allowed: "",
            denied: "",
        },
        "remove it if the decisions do not need it",
    ),
];
