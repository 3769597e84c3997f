//! Examples with roles.

use super::super::support::*;
use super::example::Example;

/// The examples, all of which are imported.
pub(super) const ROLES: [Example; 11] = [
    Example {
        name: "rbac_model",
        model: ["sub, obj, act", "sub, obj, act", "g = _, _\n", ALLOW_OVERRIDE, BY_ROLE],
        policy: "p, alice, data1, read\np, bob, data2, write\np, data2_admin, data2, read\np, data2_admin, data2, \
             write\ng, alice, data2_admin\n",
        allowed: "alice data1 read, alice data2 read, alice data2 write, bob data2 write",
        denied: "alice data1 write, bob data1 read, bob data1 write, bob data2 read",
    },
    Example {
        name: "rbac_model_in_multi_line",
        model: [
            "sub, obj, act",
            "sub, obj, act",
            "g = _, _\n",
            ALLOW_OVERRIDE,
            "g(r.sub, p.sub) && r.obj == p.obj \\\n && r.act == p.act",
        ],
        policy: "p, alice, data1, read\np, bob, data2, write\np, data2_admin, data2, read\np, data2_admin, data2, \
             write\ng, alice, data2_admin\n",
        allowed: "alice data1 read, alice data2 read, alice data2 write, bob data2 write",
        denied: "alice data1 write, bob data1 read, bob data1 write, bob data2 read",
    },
    Example {
        name: "rbac_model_matcher_using_in_op",
        model: [
            "sub, obj, act",
            "sub, obj, act",
            "g = _, _\n",
            ALLOW_OVERRIDE,
            "r.obj == p.obj && r.act == p.act && g(r.sub, p.sub) || r.obj in ('data2', 'data3')",
        ],
        policy: "p, alice, data1, read\np, bob, data2, write\np, data2_admin, data2, read\np, data2_admin, data2, \
             write\ng, alice, data2_admin\n",
        allowed: "alice data1 read, alice data2 read, alice data3 read, anyone data2 read, anyone data3 read",
        denied: "anyone data1 read",
    },
    Example {
        name: "rbac_model_matcher_using_in_op_bracket",
        model: [
            "sub, obj, act",
            "sub, obj, act",
            "g = _, _\n",
            ALLOW_OVERRIDE,
            "r.obj == p.obj && r.act == p.act && g(r.sub, p.sub) || r.obj in ['data2', 'data3']",
        ],
        policy: "p, alice, data1, read\np, bob, data2, write\np, data2_admin, data2, read\np, data2_admin, data2, \
             write\ng, alice, data2_admin\n",
        allowed: "alice data1 read, alice data2 read, alice data3 read, anyone data2 read, anyone data3 read",
        denied: "anyone data1 read",
    },
    Example {
        name: "rbac_with_complex_matcher_model",
        model: [
            "sub, obj, act, dom",
            "sub, obj, act, dom",
            "g = _, _, _\n",
            ALLOW_OVERRIDE,
            "(g(r.sub, p.sub, r.dom) || g(r.sub, p.sub, '*')) && (p.dom == '*' || r.dom == p.dom) && r.obj == p.obj && r.act == p.act",
        ],
        policy: "p, abstract_roles1, devis, read, *\np, abstract_roles1, devis, create, *\np, abstract_roles2, \
             organization, write, *\ng, roles1, abstract_roles1, tenant1\ng, super_user, abstract_roles2, *\ng, \
             michael, roles1, tenant1\ng, theo, super_user, *\n",
        allowed: "michael devis read tenant1, michael devis create tenant1, theo organization write tenant1, \
             theo organization write tenant2",
        denied: "michael devis read tenant2, theo devis read tenant1, michael organization write tenant1",
    },
    Example {
        name: "rbac_with_cross_domain_model",
        model: [
            "sub, dom, obj, act",
            "sub, obj, act",
            "g = _, _, _\n",
            ALLOW_OVERRIDE,
            "g(r.sub, p.sub, r.dom)  && regexMatch(r.act, p.act)",
        ],
        policy: "p, admin, data1, read\ng, alice, admin, domain1\n",
        allowed: "alice domain1 data1 read, alice domain1 data2 read",
        denied: "alice domain2 data1 read, alice domain1 data1 write",
    },
    Example {
        name: "rbac_with_deny_model",
        model: ["sub, obj, act", "sub, obj, act, eft", "g = _, _\n", ALLOW_AND_DENY, BY_ROLE],
        policy: "p, alice, data1, read, allow\np, bob, data2, write, allow\np, data2_admin, data2, read, allow\np, \
             data2_admin, data2, write, allow\np, alice, data2, write, deny\ng, alice, data2_admin\n",
        allowed: "alice data1 read, alice data2 read, bob data2 write",
        denied: "alice data1 write, alice data2 write, bob data1 read, bob data1 write, bob data2 read",
    },
    Example {
        name: "rbac_with_domains_model",
        model: [
            "sub, dom, obj, act",
            "sub, dom, obj, act",
            "g = _, _, _\n",
            ALLOW_OVERRIDE,
            IN_DOMAIN,
        ],
        policy: "p, admin, domain1, data1, read\np, admin, domain1, data1, write\np, admin, domain2, data2, read\np, \
             admin, domain2, data2, write\ng, alice, admin, domain1\ng, bob, admin, domain2\n",
        allowed: "alice domain1 data1 read, alice domain1 data1 write, bob domain2 data2 read, bob domain2 data2 write",
        denied: "alice domain1 data2 read, alice domain1 data2 write, bob domain2 data1 read, bob domain2 data1 write",
    },
    Example {
        name: "rbac_with_not_deny_model",
        model: ["sub, obj, act", "sub, obj, act, eft", "g = _, _\n", DENY_OVERRIDE, BY_ROLE],
        policy: "p, alice, data1, read, allow\np, bob, data2, write, allow\np, data2_admin, data2, read, allow\np, \
             data2_admin, data2, write, allow\np, alice, data2, write, deny\ng, alice, data2_admin\n",
        allowed: "alice data1 write, bob data1 read, eve data9 read",
        denied: "alice data2 write",
    },
    Example {
        name: "rbac_with_resource_roles_model",
        model: [
            "sub, obj, act",
            "sub, obj, act",
            "g = _, _\ng2 = _, _\n",
            ALLOW_OVERRIDE,
            "r.act == p.act && g(r.sub, p.sub) && g2(r.obj, p.obj)",
        ],
        policy: "p, alice, data1, read\np, bob, data2, write\np, data_group_admin, data_group, write\ng, alice, \
             data_group_admin\ng2, data1, data_group\ng2, data2, data_group\n",
        allowed: "alice data1 read, alice data1 write, alice data2 write, bob data2 write",
        denied: "alice data2 read, bob data1 read, bob data1 write, bob data2 read",
    },
    Example {
        name: "rbac_with_resource_scope_model",
        model: [
            "sub, obj, act",
            "sub, obj, act",
            "g = _, _, _\n",
            ALLOW_OVERRIDE,
            "g(r.sub, p.sub, r.obj) && r.obj == p.obj && r.act == p.act",
        ],
        policy: "p, reader, resource1, read\np, reader, resource2, read\np, writer, resource1, write\ng, user1, \
             reader, resource1\ng, user2, reader, resource2\ng, user3, writer, resource1\n",
        allowed: "user1 resource1 read, user2 resource2 read, user3 resource1 write",
        denied: "user1 resource2 read, user1 resource1 write, user2 resource1 read, user3 resource1 read",
    },
];
