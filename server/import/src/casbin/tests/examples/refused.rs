//! The examples that are refused.

use super::super::support::*;
use super::example::Example;

/// The examples, each with a part of the reason.
pub(super) const REFUSED: [(Example, &str); 16] = [
    refused(
        "abac_with_rbac",
        [
            "sub, obj, act",
            "sub, obj, act",
            "g = _, _\n",
            ALLOW_OVERRIDE,
            "(g(r.sub, p.sub) || eval(p.sub)) && r.act == p.act",
        ],
        "p, r.sub == r.obj.Author, post, write\np, admin, post, write\n",
        "`admin`: ",
    ),
    refused(
        "allmatch_model",
        [
            "sub, obj, act",
            "sub, obj, act",
            "",
            ALLOW_OVERRIDE,
            "r.sub == p.sub && allMatch(r.obj, p.obj) && r.act == p.act",
        ],
        "p, alice, data1, read\np, bob, data2, write\n",
        "the function `allMatch` is not known",
    ),
    refused(
        "domainmatch_model",
        [
            "sub, dom, obj, act",
            "sub, dom, obj, act",
            "g = _, _, _\n",
            ALLOW_OVERRIDE,
            "g(r.sub, p.sub, r.dom) && allMatch(r.dom, p.dom) && r.obj == p.obj && r.act == p.act",
        ],
        "p, admin, domain1, data1, read\np, admin, domain1, data1, write\np, admin, domain2, data2, read\np, \
             admin, domain2, data2, write\ng, alice, admin, domain1\ng, bob, admin, domain2\n",
        "the function `allMatch` is not known",
    ),
    refused(
        "keymatch_custom_model",
        [
            "sub, obj, act",
            "sub, obj, act",
            "",
            ALLOW_OVERRIDE,
            "r.sub == p.sub && keyMatchCustom(r.obj, p.obj) && regexMatch(r.act, p.act)",
        ],
        "p, alice, data1, read\np, bob, data2, write\n",
        "the function `keyMatchCustom` is not known",
    ),
    refused(
        "ai_policy_model",
        [
            "sub, obj, act",
            "sub, obj, act\n[ai_policy_definition]\na = prompt",
            "",
            ALLOW_OVERRIDE,
            PLAIN,
        ],
        "p, 192.168.2.0/24, data1, read\np, 10.0.0.0/16, data2, write\n",
        "remove it if the decisions do not need it",
    ),
    refused(
        "multiple_policy_definitions_model",
        [
            "sub, obj, act\nr2 = sub, obj, act",
            "sub, obj, act\np2 = sub_rule, obj, act, eft",
            "g = _, _\n",
            ALLOW_OVERRIDE,
            "g(r.sub, p.sub) && r.obj == p.obj && r.act == p.act\nm2 = r2.obj == p2.obj && eval(p2.sub_rule)",
        ],
        "p, alice, data1, read\np, bob, data2, write\np, data2_admin, data2, read\np, data2_admin, data2, \
             write\ng, alice, data2_admin\n",
        "import it as a model of its own",
    ),
    refused(
        "priority_model_enforce_context",
        [
            "sub, obj, act\nr2 = sub, obj",
            "sub, obj, act, eft",
            "g = _, _\n",
            PRIORITY,
            "g(r.sub, p.sub) && r.obj == p.obj && r.act == p.act\nm2 = g(r2.sub, p.sub)",
        ],
        "p, alice, data1, read, allow\np, bob, data2, write, allow\np, data2_admin, data2, read, allow\np, \
             data2_admin, data2, write, allow\np, alice, data2, write, deny\ng, alice, data2_admin\n",
        "import it as a model of its own",
    ),
    refused(
        "priority_explicit_override_model",
        [
            "sub, obj, act",
            "priority, sub, obj, act, eft",
            "g = _, _\n",
            "priority(p_eft) && !some(where (p_eft == deny))",
            BY_ROLE,
        ],
        "p, 10, data1_deny_group, data1, read, deny\np, 10, data1_deny_group, data1, write, deny\np, 10, \
             data2_allow_group, data2, read, allow\np, 10, data2_allow_group, data2, write, allow\np, 1, alice, \
             data1, write, allow\np, 1, alice, data1, read, allow\np, 1, bob, data2, read, deny\ng, bob, \
             data2_allow_group\ng, alice, data1_deny_group\n",
        "use one of Casbin",
    ),
    refused(
        "subject_priority_model",
        [
            "sub, obj, act",
            "sub, obj, act, eft",
            "g = _, _\n",
            "subjectPriority(p.eft) || deny",
            BY_ROLE,
        ],
        "p, alice, data1, read, allow\np, bob, data2, write, allow\np, data2_admin, data2, read, allow\np, \
             data2_admin, data2, write, allow\np, alice, data2, write, deny\ng, alice, data2_admin\n",
        "number the lines",
    ),
    refused(
        "rbac_with_temporal_roles_model",
        ["sub, obj, act", "sub, obj, act", "g = _, _, (_, _)\n", ALLOW_OVERRIDE, BY_ROLE],
        "p, alice, data1, read\np, bob, data2, write\np, data2_admin, data2, read\np, data2_admin, data2, \
             write\ng, alice, data2_admin\n",
        "write a policy for roles with conditions",
    ),
    refused(
        "rbac_with_different_types_of_roles_model",
        [
            "sub, obj, act",
            "sub, dom, obj, act",
            "g = _, _, _, (_, _)\ng2 = _, _\n",
            ALLOW_OVERRIDE,
            "g(r.sub, p.sub, p.dom) && g2(r.obj, p.dom) && regexMatch(r.act, p.act)",
        ],
        "",
        "write a policy for roles with conditions",
    ),
    refused(
        "rbac_model_with_sessions",
        ["sub, obj, act, time", "sub, obj, act", "g = _, _, _, _\n", ALLOW_AND_DENY, BY_ROLE],
        "p, alice, data1, read\np, bob, data2, write\np, data2_admin, data2, read\np, data2_admin, data2, \
             write\ng, alice, data2_admin\n",
        "write a policy for roles with conditions",
    ),
    refused(
        "rbac_with_early_return_model",
        [
            "sub, obj, act",
            "sub, obj, act",
            "g = _, _\ng2 = _, _\n",
            ALLOW_OVERRIDE,
            "{ let role_match = g(r.sub, p.sub) return role_match }",
        ],
        "p, alice, data1, read\np, bob, data2, write\np, data2_admin, data2, read\np, data2_admin, data2, \
             write\ng, alice, data2_admin\n",
        "a block of statements",
    ),
    refused(
        "rebac_model",
        [
            "sub, obj, act",
            "role, obj_type, act",
            "g = _, _, _\ng2 = _, _\n",
            ALLOW_OVERRIDE,
            "g(r.sub, r.obj, p.role) && g2(r.obj, p.obj_type) && r.act == p.act",
        ],
        "p, collaborator, doc, read\ng, alice, doc1, collaborator\n",
        "`g` asks about two values of the request",
    ),
    refused(
        "rbac_with_resource_scope_tenant_model",
        [
            "sub, tenant, obj, act",
            "sub, tenant, obj, act",
            "g = _, _, _\n",
            ALLOW_OVERRIDE,
            "g(r.sub, p.sub, r.tenant + \"::\" + r.obj) && r.tenant == p.tenant",
        ],
        "p, admin, domain1, data1, read\np, admin, domain1, data1, write\np, admin, domain2, data2, read\np, \
             admin, domain2, data2, write\ng, alice, admin, domain1\ng, bob, admin, domain2\n",
        "",
    ),
    refused(
        "rbac_with_constraints_model",
        [
            "sub, obj, act",
            "sub, obj, act",
            "g = _, _\n[constraint_definition]\nc = roleMax(\"superadmin\", 2)\n",
            ALLOW_OVERRIDE,
            BY_ROLE,
        ],
        "p, alice, data1, read\np, bob, data2, write\np, data2_admin, data2, read\np, data2_admin, data2, \
             write\ng, alice, data2_admin\n",
        "remove it if the decisions do not need it",
    ),
];

/// Returns an example of which no request is decided.
const fn refused(
    name: &'static str,
    model: [&'static str; 5],
    policy: &'static str,
    reason: &'static str,
) -> (Example, &'static str) {
    (Example { name, model, policy, allowed: "", denied: "" }, reason)
}
