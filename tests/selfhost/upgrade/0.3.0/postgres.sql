--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: public; Type: SCHEMA; Schema: -; Owner: portcullis
--

-- *not* creating schema, since initdb creates it


ALTER SCHEMA public OWNER TO portcullis;

--
-- Name: portcullis_change(); Type: FUNCTION; Schema: public; Owner: portcullis
--

CREATE FUNCTION public.portcullis_change() RETURNS bigint
    LANGUAGE sql
    RETURN ((pg_current_xact_id())::text)::bigint;


ALTER FUNCTION public.portcullis_change() OWNER TO portcullis;

--
-- Name: portcullis_may_see(text); Type: FUNCTION; Schema: public; Owner: portcullis
--

CREATE FUNCTION public.portcullis_may_see(tenant text) RETURNS boolean
    LANGUAGE sql STABLE
    RETURN (current_setting('portcullis.tenant'::text, true) = ANY (ARRAY[tenant, '*'::text]));


ALTER FUNCTION public.portcullis_may_see(tenant text) OWNER TO portcullis;

--
-- Name: portcullis_note_access(); Type: FUNCTION; Schema: public; Owner: portcullis
--

CREATE FUNCTION public.portcullis_note_access() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    owner TEXT;
BEGIN
    IF TG_OP = 'DELETE' THEN owner := OLD.tenant_id; ELSE owner := NEW.tenant_id; END IF;
    UPDATE tenants SET access_changed = portcullis_change()
        WHERE id = owner AND access_changed <> portcullis_change();
    IF FOUND THEN PERFORM pg_notify('portcullis_access', ''); END IF;
    RETURN NULL;
END
$$;


ALTER FUNCTION public.portcullis_note_access() OWNER TO portcullis;

--
-- Name: portcullis_note_change(); Type: FUNCTION; Schema: public; Owner: portcullis
--

CREATE FUNCTION public.portcullis_note_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    NEW.changed := portcullis_change();
    RETURN NEW;
END
$$;


ALTER FUNCTION public.portcullis_note_change() OWNER TO portcullis;

--
-- Name: portcullis_note_state(); Type: FUNCTION; Schema: public; Owner: portcullis
--

CREATE FUNCTION public.portcullis_note_state() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    NEW.changed := portcullis_change();
    NEW.access_changed := NEW.changed;
    PERFORM pg_notify('portcullis_access', '');
    RETURN NEW;
END
$$;


ALTER FUNCTION public.portcullis_note_state() OWNER TO portcullis;

--
-- Name: portcullis_refuse_audit_change(); Type: FUNCTION; Schema: public; Owner: portcullis
--

CREATE FUNCTION public.portcullis_refuse_audit_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'audit records never change';
END
$$;


ALTER FUNCTION public.portcullis_refuse_audit_change() OWNER TO portcullis;

--
-- Name: portcullis_refuse_audit_deletion(); Type: FUNCTION; Schema: public; Owner: portcullis
--

CREATE FUNCTION public.portcullis_refuse_audit_deletion() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM audit_pruning WHERE tenant = OLD.tenant_id) THEN
        RAISE EXCEPTION 'audit records are deleted by retention only';
    END IF;
    RETURN OLD;
END
$$;


ALTER FUNCTION public.portcullis_refuse_audit_deletion() OWNER TO portcullis;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: _sqlx_migrations; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public._sqlx_migrations (
    version bigint NOT NULL,
    description text NOT NULL,
    installed_on timestamp with time zone DEFAULT now() NOT NULL,
    success boolean NOT NULL,
    checksum bytea NOT NULL,
    execution_time bigint NOT NULL
);


ALTER TABLE public._sqlx_migrations OWNER TO portcullis;

--
-- Name: abac_policies; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.abac_policies (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id uuid NOT NULL,
    name text NOT NULL,
    description text,
    resource text NOT NULL COLLATE pg_catalog."C",
    effect text NOT NULL,
    format text NOT NULL,
    rule_data text NOT NULL,
    priority integer NOT NULL,
    enabled boolean NOT NULL,
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    updated_by text,
    updated_at bigint,
    deleted_at bigint,
    managed_by text COLLATE pg_catalog."C",
    CONSTRAINT abac_policies_effect_check CHECK ((effect = ANY (ARRAY['allow'::text, 'deny'::text])))
);

ALTER TABLE ONLY public.abac_policies FORCE ROW LEVEL SECURITY;


ALTER TABLE public.abac_policies OWNER TO portcullis;

--
-- Name: audit_pruning; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.audit_pruning (
    tenant text NOT NULL COLLATE pg_catalog."C"
);

ALTER TABLE ONLY public.audit_pruning FORCE ROW LEVEL SECURITY;


ALTER TABLE public.audit_pruning OWNER TO portcullis;

--
-- Name: audit_records; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.audit_records (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id uuid NOT NULL,
    created_at bigint NOT NULL,
    actor text NOT NULL,
    credential text NOT NULL,
    key_id text,
    key_name text,
    action text NOT NULL,
    records text NOT NULL,
    count bigint NOT NULL,
    before_change text,
    after_change text,
    source text,
    address text,
    request_id text
);

ALTER TABLE ONLY public.audit_records FORCE ROW LEVEL SECURITY;


ALTER TABLE public.audit_records OWNER TO portcullis;

--
-- Name: decision_erasures; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.decision_erasures (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    subject bytea NOT NULL,
    erased_at bigint NOT NULL,
    pending boolean DEFAULT false NOT NULL,
    records bigint DEFAULT 0 NOT NULL,
    deliveries bigint DEFAULT 0 NOT NULL,
    sent bigint DEFAULT 0 NOT NULL,
    ended_at bigint
);

ALTER TABLE ONLY public.decision_erasures FORCE ROW LEVEL SECURITY;


ALTER TABLE public.decision_erasures OWNER TO portcullis;

--
-- Name: decision_files; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.decision_files (
    seq bigint NOT NULL,
    cause text NOT NULL,
    path text,
    replaces text,
    created_at bigint NOT NULL,
    records bigint NOT NULL,
    bytes bigint NOT NULL,
    sha256 bytea NOT NULL,
    hash bytea NOT NULL,
    mac bytea NOT NULL,
    gone_at bigint,
    deleted boolean DEFAULT false NOT NULL
);

ALTER TABLE ONLY public.decision_files FORCE ROW LEVEL SECURITY;


ALTER TABLE public.decision_files OWNER TO portcullis;

--
-- Name: decision_parts; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.decision_parts (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    first_id uuid NOT NULL,
    path text NOT NULL COLLATE pg_catalog."C",
    last_id uuid NOT NULL,
    records bigint NOT NULL,
    bytes bigint NOT NULL,
    file_bytes bigint NOT NULL,
    last_at bigint NOT NULL,
    expires_at bigint NOT NULL
);

ALTER TABLE ONLY public.decision_parts FORCE ROW LEVEL SECURITY;


ALTER TABLE public.decision_parts OWNER TO portcullis;

--
-- Name: decision_uploads; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.decision_uploads (
    path text NOT NULL COLLATE pg_catalog."C",
    begun_at bigint NOT NULL,
    leaving boolean DEFAULT false NOT NULL
);

ALTER TABLE ONLY public.decision_uploads FORCE ROW LEVEL SECURITY;


ALTER TABLE public.decision_uploads OWNER TO portcullis;

--
-- Name: delivered_denials; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.delivered_denials (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    webhook_id uuid NOT NULL,
    id uuid NOT NULL,
    last_attempt uuid NOT NULL,
    first_delivery uuid NOT NULL,
    last_delivery uuid NOT NULL,
    total bigint NOT NULL,
    attempts bytea NOT NULL,
    bodies bytea NOT NULL,
    settled_at bigint NOT NULL
);
ALTER TABLE ONLY public.delivered_denials ALTER COLUMN attempts SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.delivered_denials ALTER COLUMN bodies SET STORAGE EXTERNAL;

ALTER TABLE ONLY public.delivered_denials FORCE ROW LEVEL SECURITY;


ALTER TABLE public.delivered_denials OWNER TO portcullis;

--
-- Name: denial_segments; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.denial_segments (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    webhook_id uuid NOT NULL,
    id uuid NOT NULL,
    total bigint NOT NULL,
    gone bigint DEFAULT 0 NOT NULL,
    denials bytea NOT NULL
);
ALTER TABLE ONLY public.denial_segments ALTER COLUMN denials SET STORAGE EXTERNAL;

ALTER TABLE ONLY public.denial_segments FORCE ROW LEVEL SECURITY;


ALTER TABLE public.denial_segments OWNER TO portcullis;

--
-- Name: drafts; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.drafts (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    bundle text NOT NULL,
    domain text NOT NULL,
    mode text DEFAULT 'replace'::text NOT NULL,
    shadow boolean NOT NULL,
    shadow_id uuid,
    shadow_counts text,
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    updated_by text,
    updated_at bigint
);

ALTER TABLE ONLY public.drafts FORCE ROW LEVEL SECURITY;


ALTER TABLE public.drafts OWNER TO portcullis;

--
-- Name: entities; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.entities (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    roles text NOT NULL,
    domain_roles text NOT NULL,
    properties text NOT NULL,
    source text COLLATE pg_catalog."C",
    sync uuid,
    revision bigint NOT NULL,
    updated_at bigint NOT NULL,
    is_deleted boolean NOT NULL
);

ALTER TABLE ONLY public.entities FORCE ROW LEVEL SECURITY;


ALTER TABLE public.entities OWNER TO portcullis;

--
-- Name: entity_roles; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.entity_roles (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    holders bigint NOT NULL
);

ALTER TABLE ONLY public.entity_roles FORCE ROW LEVEL SECURITY;


ALTER TABLE public.entity_roles OWNER TO portcullis;

--
-- Name: entity_syncs; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.entity_syncs (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    id uuid NOT NULL,
    begun_at bigint NOT NULL,
    entities bigint DEFAULT 0 NOT NULL
);

ALTER TABLE ONLY public.entity_syncs FORCE ROW LEVEL SECURITY;


ALTER TABLE public.entity_syncs OWNER TO portcullis;

--
-- Name: identity_providers; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.identity_providers (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id uuid NOT NULL,
    issuer_url text NOT NULL COLLATE pg_catalog."C",
    jwks_uri text NOT NULL,
    audience text,
    roles_claim text NOT NULL,
    roles_format text DEFAULT 'list'::text NOT NULL,
    domain_claim text NOT NULL,
    admin_domain_claim text NOT NULL,
    created_at bigint NOT NULL,
    last_used_at bigint
);

ALTER TABLE ONLY public.identity_providers FORCE ROW LEVEL SECURITY;


ALTER TABLE public.identity_providers OWNER TO portcullis;

--
-- Name: plan_sizes; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.plan_sizes (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    pattern text NOT NULL COLLATE pg_catalog."C",
    bytes bigint NOT NULL
);

ALTER TABLE ONLY public.plan_sizes FORCE ROW LEVEL SECURITY;


ALTER TABLE public.plan_sizes OWNER TO portcullis;

--
-- Name: proposals; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.proposals (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id uuid NOT NULL,
    state text NOT NULL,
    owner text NOT NULL,
    message text,
    domain text NOT NULL,
    request bytea,
    plan text NOT NULL,
    fingerprint text NOT NULL,
    proposed_by text NOT NULL,
    key_creator text,
    proposed_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    decided_by text,
    decided_at bigint
);

ALTER TABLE ONLY public.proposals FORCE ROW LEVEL SECURITY;


ALTER TABLE public.proposals OWNER TO portcullis;

--
-- Name: rbac_rules; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.rbac_rules (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id uuid NOT NULL,
    sub text NOT NULL COLLATE pg_catalog."C",
    dom text NOT NULL COLLATE pg_catalog."C",
    obj text NOT NULL COLLATE pg_catalog."C",
    act text NOT NULL COLLATE pg_catalog."C",
    effect text NOT NULL,
    origin text NOT NULL,
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    updated_by text,
    updated_at bigint,
    managed_by text COLLATE pg_catalog."C",
    CONSTRAINT rbac_rules_effect_check CHECK ((effect = ANY (ARRAY['allow'::text, 'deny'::text]))),
    CONSTRAINT rbac_rules_origin_check CHECK ((origin = ANY (ARRAY['explicit'::text, 'default_role'::text])))
);

ALTER TABLE ONLY public.rbac_rules FORCE ROW LEVEL SECURITY;


ALTER TABLE public.rbac_rules OWNER TO portcullis;

--
-- Name: record_answers; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE UNLOGGED TABLE public.record_answers (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    question uuid NOT NULL,
    replica bigint NOT NULL,
    at bigint NOT NULL,
    complete boolean NOT NULL,
    records bytea NOT NULL
);

ALTER TABLE ONLY public.record_answers FORCE ROW LEVEL SECURITY;


ALTER TABLE public.record_answers OWNER TO portcullis;

--
-- Name: relation_syncs; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.relation_syncs (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    id uuid NOT NULL,
    begun_at bigint NOT NULL,
    tuples bigint NOT NULL
);

ALTER TABLE ONLY public.relation_syncs FORCE ROW LEVEL SECURITY;


ALTER TABLE public.relation_syncs OWNER TO portcullis;

--
-- Name: relations; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.relations (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    object_type text NOT NULL COLLATE pg_catalog."C",
    object_id text NOT NULL COLLATE pg_catalog."C",
    relation bigint NOT NULL,
    subject_type text NOT NULL COLLATE pg_catalog."C",
    subject_id text NOT NULL COLLATE pg_catalog."C",
    subject_relation bigint NOT NULL,
    expires_at bigint,
    source text COLLATE pg_catalog."C",
    sync uuid,
    revision bigint NOT NULL,
    updated_at bigint NOT NULL,
    is_deleted boolean NOT NULL
);

ALTER TABLE ONLY public.relations FORCE ROW LEVEL SECURITY;


ALTER TABLE public.relations OWNER TO portcullis;

--
-- Name: resolver_modules; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.resolver_modules (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    sha256 text NOT NULL COLLATE pg_catalog."C",
    bytes bytea NOT NULL
);

ALTER TABLE ONLY public.resolver_modules FORCE ROW LEVEL SECURITY;


ALTER TABLE public.resolver_modules OWNER TO portcullis;

--
-- Name: resolvers; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.resolvers (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id uuid NOT NULL,
    namespace text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    enabled boolean NOT NULL,
    manifest text NOT NULL,
    secrets bytea NOT NULL,
    module text NOT NULL,
    sha256 text NOT NULL COLLATE pg_catalog."C",
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    updated_by text,
    updated_at bigint,
    managed_by text COLLATE pg_catalog."C"
);

ALTER TABLE ONLY public.resolvers FORCE ROW LEVEL SECURITY;


ALTER TABLE public.resolvers OWNER TO portcullis;

--
-- Name: resources; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.resources (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id uuid NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    stem text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    verb text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    display_name text,
    service_name text,
    default_roles text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint,
    managed_by text COLLATE pg_catalog."C"
);

ALTER TABLE ONLY public.resources FORCE ROW LEVEL SECURITY;


ALTER TABLE public.resources OWNER TO portcullis;

--
-- Name: revision_changes; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.revision_changes (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    record text NOT NULL COLLATE pg_catalog."C",
    revision bigint NOT NULL,
    before_hash bytea,
    after_hash bytea
);

ALTER TABLE ONLY public.revision_changes FORCE ROW LEVEL SECURITY;


ALTER TABLE public.revision_changes OWNER TO portcullis;

--
-- Name: revision_values; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.revision_values (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    hash bytea NOT NULL,
    last_revision bigint NOT NULL,
    value text NOT NULL
);

ALTER TABLE ONLY public.revision_values FORCE ROW LEVEL SECURITY;


ALTER TABLE public.revision_values OWNER TO portcullis;

--
-- Name: revisions; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.revisions (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    revision bigint NOT NULL,
    created_at bigint NOT NULL,
    actor text NOT NULL,
    credential text NOT NULL,
    key_id text,
    key_name text,
    via text NOT NULL,
    source text,
    request_id text,
    changes bigint NOT NULL,
    bytes bigint NOT NULL
);

ALTER TABLE ONLY public.revisions FORCE ROW LEVEL SECURITY;


ALTER TABLE public.revisions OWNER TO portcullis;

--
-- Name: roles; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.roles (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    includes text NOT NULL,
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    updated_by text,
    updated_at bigint,
    managed_by text COLLATE pg_catalog."C"
);

ALTER TABLE ONLY public.roles FORCE ROW LEVEL SECURITY;


ALTER TABLE public.roles OWNER TO portcullis;

--
-- Name: service_keys; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.service_keys (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id uuid NOT NULL,
    name text NOT NULL,
    description text,
    domain text,
    secret_hash bytea NOT NULL,
    permissions text NOT NULL,
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    last_used_at bigint
);

ALTER TABLE ONLY public.service_keys FORCE ROW LEVEL SECURITY;


ALTER TABLE public.service_keys OWNER TO portcullis;

--
-- Name: tenant_cases; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.tenant_cases (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    domain text NOT NULL,
    cases text NOT NULL,
    users text NOT NULL,
    skipped text NOT NULL,
    updated_by text NOT NULL,
    updated_at bigint NOT NULL
);

ALTER TABLE ONLY public.tenant_cases FORCE ROW LEVEL SECURITY;


ALTER TABLE public.tenant_cases OWNER TO portcullis;

--
-- Name: tenant_settings; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.tenant_settings (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    settings text NOT NULL,
    updated_by text NOT NULL,
    updated_at bigint NOT NULL
);

ALTER TABLE ONLY public.tenant_settings FORCE ROW LEVEL SECURITY;


ALTER TABLE public.tenant_settings OWNER TO portcullis;

--
-- Name: tenants; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.tenants (
    id text NOT NULL COLLATE pg_catalog."C",
    name text,
    slug text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    suspended_at bigint,
    deleting_at bigint,
    erased_at bigint,
    revision bigint NOT NULL,
    history text DEFAULT ''::text NOT NULL,
    entities_revision bigint DEFAULT 0 NOT NULL,
    entities_history text DEFAULT ''::text NOT NULL,
    entities_forgotten bigint DEFAULT 0 NOT NULL,
    relations_forgotten bigint DEFAULT 0 NOT NULL,
    last_relation bigint DEFAULT 0 NOT NULL,
    changed bigint DEFAULT 0 NOT NULL,
    access_changed bigint DEFAULT 0 NOT NULL,
    gate_cases boolean DEFAULT false NOT NULL,
    gate_approval boolean DEFAULT false NOT NULL,
    directory_wins boolean DEFAULT false NOT NULL,
    used_webhooks bigint DEFAULT 0 NOT NULL,
    used_policies bigint DEFAULT 0 NOT NULL,
    used_rules bigint DEFAULT 0 NOT NULL,
    used_resources bigint DEFAULT 0 NOT NULL,
    used_service_keys bigint DEFAULT 0 NOT NULL,
    used_resolvers bigint DEFAULT 0 NOT NULL,
    used_entities bigint DEFAULT 0 NOT NULL,
    used_relations bigint DEFAULT 0 NOT NULL,
    used_bytes bigint DEFAULT 0 NOT NULL
);


ALTER TABLE public.tenants OWNER TO portcullis;

--
-- Name: types; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.types (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    definition text NOT NULL,
    sources text NOT NULL,
    relations text DEFAULT '{}'::text NOT NULL,
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    updated_by text,
    updated_at bigint,
    managed_by text COLLATE pg_catalog."C"
);

ALTER TABLE ONLY public.types FORCE ROW LEVEL SECURITY;


ALTER TABLE public.types OWNER TO portcullis;

--
-- Name: webhook_attempts; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.webhook_attempts (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    retry_count bigint NOT NULL,
    http_status bigint,
    response_body text,
    error text,
    duration_ms bigint NOT NULL,
    state text NOT NULL,
    attempted_at bigint NOT NULL,
    next_attempt_at bigint
);

ALTER TABLE ONLY public.webhook_attempts FORCE ROW LEVEL SECURITY;


ALTER TABLE public.webhook_attempts OWNER TO portcullis;

--
-- Name: webhook_deliveries; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.webhook_deliveries (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    event_id uuid NOT NULL,
    denials boolean DEFAULT false NOT NULL,
    due_at bigint,
    failures bigint DEFAULT 0 NOT NULL,
    round bigint DEFAULT 0 NOT NULL,
    dropped bigint DEFAULT 0 NOT NULL,
    settled_at bigint
);

ALTER TABLE ONLY public.webhook_deliveries FORCE ROW LEVEL SECURITY;


ALTER TABLE public.webhook_deliveries OWNER TO portcullis;

--
-- Name: webhook_events; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.webhook_events (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id uuid NOT NULL,
    type text NOT NULL,
    body bytea NOT NULL,
    created_at bigint NOT NULL
);

ALTER TABLE ONLY public.webhook_events FORCE ROW LEVEL SECURITY;


ALTER TABLE public.webhook_events OWNER TO portcullis;

--
-- Name: webhook_lanes; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.webhook_lanes (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    webhook_id uuid NOT NULL,
    denials boolean DEFAULT false NOT NULL,
    due_at bigint,
    holder text,
    lease_until bigint DEFAULT 0 NOT NULL,
    fence bigint DEFAULT 0 NOT NULL,
    slow boolean DEFAULT false NOT NULL,
    waiting bigint DEFAULT 0 NOT NULL,
    dropped bigint DEFAULT 0 NOT NULL,
    settled bigint DEFAULT 0 NOT NULL,
    last_event uuid
);

ALTER TABLE ONLY public.webhook_lanes FORCE ROW LEVEL SECURITY;


ALTER TABLE public.webhook_lanes OWNER TO portcullis;

--
-- Name: webhooks; Type: TABLE; Schema: public; Owner: portcullis
--

CREATE TABLE public.webhooks (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    id uuid NOT NULL,
    url text NOT NULL,
    events text NOT NULL,
    secret bytea NOT NULL,
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint,
    managed_by text COLLATE pg_catalog."C"
);

ALTER TABLE ONLY public.webhooks FORCE ROW LEVEL SECURITY;


ALTER TABLE public.webhooks OWNER TO portcullis;

--
-- Data for Name: _sqlx_migrations; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public._sqlx_migrations VALUES (1, 'baseline', '2026-11-30 07:02:16.774522+00', true, '\xa1074041b43e79154b31d3372759730cc0a1d49e8c1ebca687c08680c633ad178e8dba0ad1e0bdd05e9c889e9b2813d9', 440657040);


--
-- Data for Name: abac_policies; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.abac_policies VALUES ('upgrade', '01a22b43-0b16-7226-8b56-a08165159251', 'always', NULL, 'report:read', 'allow', 'json', '{"type":"CONDITION","attribute":"request.subject","operator":"exists"}', 1, true, 'boss', 1796022143766, NULL, NULL, NULL, NULL);
INSERT INTO public.abac_policies VALUES ('upgrade', '01a22b43-0b78-752a-93ea-35b6b41f3234', 'owner', NULL, 'chart:write', 'allow', 'json', '{"type":"CONDITION","attribute":"resource.owner","operator":"eq","value":"alice"}', 5, true, 'boss', 1796022143864, NULL, NULL, NULL, NULL);
INSERT INTO public.abac_policies VALUES ('upgrade', '01a22b43-0c05-7355-af80-16a5fd445972', 'outside', NULL, 'report:read', 'deny', 'json', '{"type":"AND","children":[{"type":"CONDITION","attribute":"user.level","operator":"gte","value":5},{"type":"NOT","child":{"type":"CONDITION","attribute":"resource.network","operator":"ip_in","value":["10.0.0.0/8"]}}]}', 10, true, 'boss', 1796022144005, NULL, NULL, NULL, NULL);
INSERT INTO public.abac_policies VALUES ('upgrade', '01a22b43-0c70-7430-9598-02f86f1d4baa', 'unknown', NULL, 'invoice:*', 'deny', 'json', '{"type":"OR","children":[{"type":"CONDITION","attribute":"request.subject","operator":"matches","value":"^mal"},{"type":"CONDITION","attribute":"resource.missing","operator":"eq","value":"x"}]}', 3, true, 'boss', 1796022144112, NULL, NULL, NULL, NULL);


--
-- Data for Name: audit_pruning; Type: TABLE DATA; Schema: public; Owner: portcullis
--



--
-- Data for Name: audit_records; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.audit_records VALUES ('01a22b42-f849-70b5-82f1-022d5182eb96', '01a22b42-f849-70c1-b09c-b5ecc5eb4a5b', 1796022138953, 'admin', 'admin_key', NULL, NULL, 'tenant.created', '["01a22b42-f849-70b5-82f1-022d5182eb96"]', 1, NULL, NULL, NULL, '127.0.0.1', '01a22b42-f848-7a4b-8ddf-ddabd60e2398');
INSERT INTO public.audit_records VALUES ('01a22b42-f849-70b5-82f1-022d5182eb96', '01a22b42-f849-70c1-b09c-b5edc591bd98', 1796022138953, 'admin', 'admin_key', NULL, NULL, 'service_key.created', '["01a22b42-f849-70b5-82f1-022ee1d2bbcd"]', 1, NULL, NULL, NULL, '127.0.0.1', '01a22b42-f848-7a4b-8ddf-ddabd60e2398');
INSERT INTO public.audit_records VALUES ('01a22b42-f849-70b5-82f1-022d5182eb96', '01a22b42-f987-70bf-8b3c-4125d27fdab1', 1796022139271, 'admin', 'admin_key', NULL, NULL, 'provider.registered', '["01a22b42-f987-7484-9b1b-60af6fb36af2"]', 1, NULL, NULL, NULL, '127.0.0.1', '01a22b42-f987-7cf4-909c-c541ec0d45c1');
INSERT INTO public.audit_records VALUES ('upgrade', '01a22b43-0785-74ff-8849-aa2246f4a7d1', 1796022142853, 'boss', 'token', NULL, NULL, 'webhook.created', '["01a22b43-0785-765e-bd23-760e9c358a3d"]', 1, NULL, NULL, NULL, '127.0.0.1', '01a22b43-0784-7f47-be78-75d1343044ef');
INSERT INTO public.audit_records VALUES ('upgrade', '01a22b43-07d0-7699-9b98-88a52795fae3', 1796022142928, 'boss', 'token', NULL, NULL, 'resource.registered', '["01a22b43-07d0-719a-b64c-eb96f49ccb74"]', 1, NULL, '{"id":"01a22b43-07d0-719a-b64c-eb96f49ccb74","tenant_id":"upgrade","name":"chart:read","displayName":"Read a chart","serviceName":null,"defaultRoles":["editor"],"created_at":"2026-11-30T07:02:22.928Z","updated_at":null,"managed_by":null}', NULL, '127.0.0.1', '01a22b43-07c6-7db3-9137-9901eee630d6');
INSERT INTO public.audit_records VALUES ('upgrade', '01a22b43-07d0-7699-9b98-88a6b8355355', 1796022142928, 'boss', 'token', NULL, NULL, 'rule.created', '["01a22b43-07d0-719a-b64c-eb972232c8fb"]', 1, NULL, '{"id":"01a22b43-07d0-719a-b64c-eb972232c8fb","sub":"editor","dom":"upgrade","obj":"chart:read","act":"read","effect":"allow","origin":"default_role","created_by":"boss","created_at":"2026-11-30T07:02:22.928Z","updated_by":null,"updated_at":null,"managed_by":null}', NULL, '127.0.0.1', '01a22b43-07c6-7db3-9137-9901eee630d6');
INSERT INTO public.audit_records VALUES ('upgrade', '01a22b43-085b-77ed-a958-456d7483a66b', 1796022143067, 'boss', 'token', NULL, NULL, 'resource.registered', '["01a22b43-085b-77c9-b1bb-62840bc7f070"]', 1, NULL, '{"id":"01a22b43-085b-77c9-b1bb-62840bc7f070","tenant_id":"upgrade","name":"invoice:read","displayName":null,"serviceName":"bills","defaultRoles":[],"created_at":"2026-11-30T07:02:23.067Z","updated_at":null,"managed_by":null}', NULL, '127.0.0.1', '01a22b43-085b-7d17-b979-b024bf781af9');
INSERT INTO public.audit_records VALUES ('upgrade', '01a22b43-08c8-778f-a252-f282dacc109c', 1796022143176, 'boss', 'token', NULL, NULL, 'rule.created', '["01a22b43-08c8-7548-ac63-91349000c646"]', 1, NULL, '{"id":"01a22b43-08c8-7548-ac63-91349000c646","sub":"alice","dom":"upgrade","obj":"chart:read","act":"read","effect":"allow","origin":"explicit","created_by":"boss","created_at":"2026-11-30T07:02:23.176Z","updated_by":null,"updated_at":null,"managed_by":null}', NULL, '127.0.0.1', '01a22b43-08c7-79cd-ac26-0a28554911ba');
INSERT INTO public.audit_records VALUES ('upgrade', '01a22b43-09d2-73f7-becf-4f00d0754b0c', 1796022143442, 'boss', 'token', NULL, NULL, 'rule.created', '["01a22b43-09d2-7280-a399-98be6594296c"]', 1, NULL, '{"id":"01a22b43-09d2-7280-a399-98be6594296c","sub":"*","dom":"upgrade","obj":"chart:write","act":"delete","effect":"deny","origin":"explicit","created_by":"boss","created_at":"2026-11-30T07:02:23.442Z","updated_by":null,"updated_at":null,"managed_by":null}', NULL, '127.0.0.1', '01a22b43-09d0-721d-b9a8-bfbd1323ce98');
INSERT INTO public.audit_records VALUES ('upgrade', '01a22b43-0a57-74a2-a25f-d67a1ad2c95c', 1796022143575, 'boss', 'token', NULL, NULL, 'rule.created', '["01a22b43-0a57-73cf-937f-6a1f03082673"]', 1, NULL, '{"id":"01a22b43-0a57-73cf-937f-6a1f03082673","sub":"bob","dom":"upgrade","obj":"*","act":"*","effect":"allow","origin":"explicit","created_by":"boss","created_at":"2026-11-30T07:02:23.575Z","updated_by":null,"updated_at":null,"managed_by":null}', NULL, '127.0.0.1', '01a22b43-0a51-786e-8d5f-2382ba94ac34');
INSERT INTO public.audit_records VALUES ('upgrade', '01a22b43-0ab2-7527-a6b6-5bfb6cbbb9b6', 1796022143666, 'boss', 'token', NULL, NULL, 'rule.created', '["01a22b43-0ab2-739c-9db0-06ea68732a19"]', 1, NULL, '{"id":"01a22b43-0ab2-739c-9db0-06ea68732a19","sub":"carol","dom":"upgrade","obj":"invoice:*","act":"*","effect":"allow","origin":"explicit","created_by":"boss","created_at":"2026-11-30T07:02:23.666Z","updated_by":null,"updated_at":null,"managed_by":null}', NULL, '127.0.0.1', '01a22b43-0ab1-733c-928f-8719a5af595f');
INSERT INTO public.audit_records VALUES ('upgrade', '01a22b43-0b16-77de-9b69-55050c1ea3ff', 1796022143766, 'boss', 'token', NULL, NULL, 'policy.created', '["01a22b43-0b16-7226-8b56-a08165159251"]', 1, NULL, '{"id":"01a22b43-0b16-7226-8b56-a08165159251","tenant_id":"upgrade","name":"always","description":null,"resource":"report:read","effect":"allow","format":"json","rule_data":{"type":"CONDITION","attribute":"request.subject","operator":"exists"},"priority":1,"enabled":true,"created_by":"boss","created_at":"2026-11-30T07:02:23.766Z","updated_by":null,"updated_at":null,"managed_by":null}', NULL, '127.0.0.1', '01a22b43-0b12-726f-81d6-2676aebd3dca');
INSERT INTO public.audit_records VALUES ('upgrade', '01a22b43-0b78-7591-8fba-e194e96e5491', 1796022143864, 'boss', 'token', NULL, NULL, 'policy.created', '["01a22b43-0b78-752a-93ea-35b6b41f3234"]', 1, NULL, '{"id":"01a22b43-0b78-752a-93ea-35b6b41f3234","tenant_id":"upgrade","name":"owner","description":null,"resource":"chart:write","effect":"allow","format":"json","rule_data":{"type":"CONDITION","attribute":"resource.owner","operator":"eq","value":"alice"},"priority":5,"enabled":true,"created_by":"boss","created_at":"2026-11-30T07:02:23.864Z","updated_by":null,"updated_at":null,"managed_by":null}', NULL, '127.0.0.1', '01a22b43-0b6c-74b6-bf00-336d29863a00');
INSERT INTO public.audit_records VALUES ('upgrade', '01a22b43-0c05-7060-adac-a91ed85ce878', 1796022144005, 'boss', 'token', NULL, NULL, 'policy.created', '["01a22b43-0c05-7355-af80-16a5fd445972"]', 1, NULL, '{"id":"01a22b43-0c05-7355-af80-16a5fd445972","tenant_id":"upgrade","name":"outside","description":null,"resource":"report:read","effect":"deny","format":"json","rule_data":{"type":"AND","children":[{"type":"CONDITION","attribute":"user.level","operator":"gte","value":5},{"type":"NOT","child":{"type":"CONDITION","attribute":"resource.network","operator":"ip_in","value":["10.0.0.0/8"]}}]},"priority":10,"enabled":true,"created_by":"boss","created_at":"2026-11-30T07:02:24.005Z","updated_by":null,"updated_at":null,"managed_by":null}', NULL, '127.0.0.1', '01a22b43-0c04-7e39-a42f-9f8ba391314e');
INSERT INTO public.audit_records VALUES ('upgrade', '01a22b43-0c70-70e0-b791-3403862b798d', 1796022144112, 'boss', 'token', NULL, NULL, 'policy.created', '["01a22b43-0c70-7430-9598-02f86f1d4baa"]', 1, NULL, '{"id":"01a22b43-0c70-7430-9598-02f86f1d4baa","tenant_id":"upgrade","name":"unknown","description":null,"resource":"invoice:*","effect":"deny","format":"json","rule_data":{"type":"OR","children":[{"type":"CONDITION","attribute":"request.subject","operator":"matches","value":"^mal"},{"type":"CONDITION","attribute":"resource.missing","operator":"eq","value":"x"}]},"priority":3,"enabled":true,"created_by":"boss","created_at":"2026-11-30T07:02:24.112Z","updated_by":null,"updated_at":null,"managed_by":null}', NULL, '127.0.0.1', '01a22b43-0c6e-78af-8c57-53b35ebd5b22');
INSERT INTO public.audit_records VALUES ('upgrade', '01a22b43-0ca4-7766-97a1-b8cb985274f0', 1796022144164, 'boss', 'token', NULL, NULL, 'service_key.created', '["01a22b43-0ca4-7785-a0b4-b05865416536"]', 1, NULL, NULL, NULL, '127.0.0.1', '01a22b43-0ca3-7e1c-9c99-bcde66be7e52');
INSERT INTO public.audit_records VALUES ('upgrade', '01a22b43-0d04-74e2-b23b-6be7fe106fe6', 1796022144260, 'boss', 'token', NULL, NULL, 'service_key.created', '["01a22b43-0d04-70f7-a362-a445afaf7de5"]', 1, NULL, NULL, NULL, '127.0.0.1', '01a22b43-0d03-71da-b07f-4859efeec971');
INSERT INTO public.audit_records VALUES ('upgrade', '01a22b43-0d4d-75d6-83d0-ec0f59d3e51d', 1796022144333, 'boss', 'token', NULL, NULL, 'service_key.revoked', '["01a22b43-0d04-70f7-a362-a445afaf7de5"]', 1, NULL, NULL, NULL, '127.0.0.1', '01a22b43-0d4c-7ffd-907a-1d1ff4aab73c');
INSERT INTO public.audit_records VALUES ('upgrade', '01a22b43-40e3-7193-b648-48491802de82', 1796022157539, 'boss', 'token', NULL, NULL, 'resolver.created', '["01a22b43-40e3-7464-8451-7ee15c9e71a1"]', 1, NULL, NULL, NULL, '127.0.0.1', '01a22b43-0ee8-7126-9cc2-c504e566dd19');
INSERT INTO public.audit_records VALUES ('upgrade', '01a22b43-4171-716b-b37d-bd277686c7b9', 1796022157681, 'boss', 'token', NULL, NULL, 'type.created', '["sheet"]', 1, NULL, '{"type":"sheet","about":null,"properties":{"owner":{"type":"text"}},"relations":{"viewer":"[user]"},"created_by":"boss","created_at":"2026-11-30T07:02:37.681Z","updated_by":null,"updated_at":null,"managed_by":null}', NULL, '127.0.0.1', '01a22b43-416e-7d9f-89c2-ec734c66aa2b');
INSERT INTO public.audit_records VALUES ('upgrade', '01a22b43-420b-7288-99e8-7bf32276d05f', 1796022157835, 'boss', 'token', NULL, NULL, 'entities.written', '["user:dora"]', 1, NULL, '{"type":"user","id":"dora","roles":["senior"],"domain_roles":{},"properties":["level"]}', NULL, '127.0.0.1', '01a22b43-420a-7703-9e10-688806f21957');
INSERT INTO public.audit_records VALUES ('upgrade', '01a22b43-41d6-709b-9dce-8bef57e407aa', 1796022157782, 'boss', 'token', NULL, NULL, 'role.created', '["senior"]', 1, NULL, '{"name":"senior","includes":["editor"],"created_by":"boss","created_at":"2026-11-30T07:02:37.782Z","updated_by":null,"updated_at":null,"managed_by":null}', NULL, '127.0.0.1', '01a22b43-41cd-7b36-9b83-fdee8f8846ac');
INSERT INTO public.audit_records VALUES ('upgrade', '01a22b43-42be-7507-926a-237e4f9665ec', 1796022158014, 'boss', 'token', NULL, NULL, 'settings.updated', '["upgrade"]', 1, '{"gates":{"cases":false,"approval":false},"max_deletes":20,"owners":{},"directory_wins":false}', '{"gates":{"cases":false,"approval":false},"max_deletes":20,"owners":{},"directory_wins":false,"decision_log":{"mode":"durable","keep":"3650d"}}', NULL, '127.0.0.1', '01a22b43-42ae-7d6a-9b9a-d98ec9626c9b');
INSERT INTO public.audit_records VALUES ('upgrade', '01a22b43-422f-7342-98d4-74d1afb95bb8', 1796022157871, 'boss', 'token', NULL, NULL, 'entities.written', '["sheet:first"]', 1, NULL, '{"type":"sheet","id":"first","roles":[],"domain_roles":{},"properties":["owner"]}', NULL, '127.0.0.1', '01a22b43-422f-7a7a-9bba-0d30e0dc97a6');
INSERT INTO public.audit_records VALUES ('upgrade', '01a22b43-4253-753f-9c1e-6da93d2633ca', 1796022157907, 'boss', 'token', NULL, NULL, 'relations.written', '["sheet:first#viewer@user:dora"]', 1, NULL, NULL, NULL, '127.0.0.1', '01a22b43-4252-7982-9170-b08f4964b45d');


--
-- Data for Name: decision_erasures; Type: TABLE DATA; Schema: public; Owner: portcullis
--



--
-- Data for Name: decision_files; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.decision_files VALUES (1, 'sealed', 'tenant=_shared/date=2026-11-30/01a22b43-4360-70cd-bc87-d0796084db48-36f8d89e.parquet', NULL, 1796022159794, 3, 4882, '\xd1b3314fa860b11995cd290887e5036ac9f8118c640d044c851539bb0fbcfb9e', '\x13f3bf7a5b756143e2b78f80a8a6a6fdb434b079806001bd2cba5d855a2b816e', '\x755edb8de406a82c8a3ac28088f758bd', NULL, false);


--
-- Data for Name: decision_parts; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.decision_parts VALUES ('upgrade', '01a22b43-4360-70cd-bc87-d0796084db48', 'tenant=_shared/date=2026-11-30/01a22b43-4360-70cd-bc87-d0796084db48-36f8d89e.parquet', '01a22b43-4486-737d-9bd3-579f081e88a6', 3, 4882, 4882, 1796022158470, 2111382158470);


--
-- Data for Name: decision_uploads; Type: TABLE DATA; Schema: public; Owner: portcullis
--



--
-- Data for Name: delivered_denials; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.delivered_denials VALUES ('upgrade', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-4473-71e8-a8d3-558e53985cdc', '01a22b43-4473-71e8-a8d3-558e53985cdc', '01a22b43-4360-72de-a143-9e38362778a1', '01a22b43-4360-72de-a143-9e38362778a1', 1, '\x5b7b226964223a2230316132326234332d343437332d373165382d613864332d353538653533393835636463222c2264656c6976657279223a2230316132326234332d343336302d373264652d613134332d396533383336323737386131222c226576656e74223a2230316132326234332d343336302d373264652d613134332d396533373965396364636265222c22737461747573223a3230302c22616e73776572223a226865617264222c226d696c6c6973223a382c226174223a313739363032323135383435317d5d', '\x5b7b226964223a2230316132326234332d343336302d373264652d613134332d396533373965396364636265222c2274797065223a226163636573732e64656e696564222c2274656e616e745f6964223a2275706772616465222c2274696d657374616d70223a22323032362d31312d33305430373a30323a33382e3137365a222c2264617461223a7b227375626a656374223a226e6f626f6479222c227265736f75726365223a226e6f77686572653a72656164222c22616374696f6e223a2272656164222c22646f6d61696e223a2275706772616465222c226d6174636865645f72756c655f6964223a2264656661756c742d64656e79222c22726561736f6e223a226e6f20524241432072756c6520616e64206e6f204142414320706f6c69637920616c6c6f7773206974227d7d5d', 1796022158460);
INSERT INTO public.delivered_denials VALUES ('upgrade', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-44c0-7475-916d-5225e63913c9', '01a22b43-44c0-7475-916d-5225e63913c9', '01a22b43-4456-748c-bec8-a73ee894dc0a', '01a22b43-4456-748c-bec8-a73ee894dc0a', 1, '\x5b7b226964223a2230316132326234332d343463302d373437352d393136642d353232356536333931336339222c2264656c6976657279223a2230316132326234332d343435362d373438632d626563382d613733656538393464633061222c226576656e74223a2230316132326234332d343435362d373438632d626563382d613733643161363631363836222c22737461747573223a3230302c22616e73776572223a226865617264222c226d696c6c6973223a382c226174223a313739363032323135383532387d5d', '\x5b7b226964223a2230316132326234332d343435362d373438632d626563382d613733643161363631363836222c2274797065223a226163636573732e64656e696564222c2274656e616e745f6964223a2275706772616465222c2274696d657374616d70223a22323032362d31312d33305430373a30323a33382e3432325a222c2264617461223a7b227375626a656374223a227265636f72646564222c227265736f75726365223a2263686172743a72656164222c22616374696f6e223a2272656164222c22646f6d61696e223a2275706772616465222c226d6174636865645f72756c655f6964223a2264656661756c742d64656e79222c22726561736f6e223a226e6f20524241432072756c6520616e64206e6f204142414320706f6c69637920616c6c6f7773206974227d7d5d', 1796022158537);
INSERT INTO public.delivered_denials VALUES ('upgrade', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-451b-74c3-8335-c081207bfef3', '01a22b43-451b-74c3-8335-c081207bfef3', '01a22b43-4486-71d3-b3b0-1a5c24bb3762', '01a22b43-4486-71d3-b3b0-1a5c24bb3762', 1, '\x5b7b226964223a2230316132326234332d343531622d373463332d383333352d633038313230376266656633222c2264656c6976657279223a2230316132326234332d343438362d373164332d623362302d316135633234626233373632222c226576656e74223a2230316132326234332d343438362d373164332d623362302d316135623162323731656335222c22737461747573223a3230302c22616e73776572223a226865617264222c226d696c6c6973223a372c226174223a313739363032323135383631397d5d', '\x5b7b226964223a2230316132326234332d343438362d373164332d623362302d316135623162323731656335222c2274797065223a226163636573732e64656e696564222c2274656e616e745f6964223a2275706772616465222c2274696d657374616d70223a22323032362d31312d33305430373a30323a33382e3437305a222c2264617461223a7b227375626a656374223a227265636f72646564222c227265736f75726365223a22696e766f6963653a72656164222c22616374696f6e223a2272656164222c22646f6d61696e223a2275706772616465222c226d6174636865645f72756c655f6964223a2230316132326234332d306337302d373433302d393539382d303266383666316434626161222c22726561736f6e223a224142414320706f6c6963792060756e6b6e6f776e602064656e6965733a2069747320636f6e646974696f6e20697320756e64657465726d696e65642c20626563617573652061747472696275746520607265736f757263652e6d697373696e6760206973206d697373696e67227d7d5d', 1796022158627);


--
-- Data for Name: denial_segments; Type: TABLE DATA; Schema: public; Owner: portcullis
--



--
-- Data for Name: drafts; Type: TABLE DATA; Schema: public; Owner: portcullis
--



--
-- Data for Name: entities; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.entities VALUES ('upgrade', 'user', 'dora', '["senior"]', '{}', '{"level":9}', NULL, NULL, 1, 1796022157835, false);
INSERT INTO public.entities VALUES ('upgrade', 'sheet', 'first', '[]', '{}', '{"owner":"dora"}', NULL, NULL, 2, 1796022157871, false);


--
-- Data for Name: entity_roles; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.entity_roles VALUES ('upgrade', 'senior', 1);


--
-- Data for Name: entity_syncs; Type: TABLE DATA; Schema: public; Owner: portcullis
--



--
-- Data for Name: identity_providers; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.identity_providers VALUES ('01a22b42-f849-70b5-82f1-022d5182eb96', '01a22b42-f987-7484-9b1b-60af6fb36af2', 'https://id.example/acme', 'https://id.example/acme/keys', NULL, 'realm_access.roles', 'list', 'dom', 'adm', 1796022139271, NULL);


--
-- Data for Name: plan_sizes; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.plan_sizes VALUES ('upgrade', 'chart:read', 53);
INSERT INTO public.plan_sizes VALUES ('upgrade', '*', 12);
INSERT INTO public.plan_sizes VALUES ('upgrade', 'chart:write', 122);
INSERT INTO public.plan_sizes VALUES ('upgrade', 'report:read', 322);
INSERT INTO public.plan_sizes VALUES ('upgrade', 'invoice:*', 231);


--
-- Data for Name: proposals; Type: TABLE DATA; Schema: public; Owner: portcullis
--



--
-- Data for Name: rbac_rules; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.rbac_rules VALUES ('upgrade', '01a22b43-07d0-719a-b64c-eb972232c8fb', 'editor', 'upgrade', 'chart:read', 'read', 'allow', 'default_role', 'boss', 1796022142928, NULL, NULL, NULL);
INSERT INTO public.rbac_rules VALUES ('upgrade', '01a22b43-08c8-7548-ac63-91349000c646', 'alice', 'upgrade', 'chart:read', 'read', 'allow', 'explicit', 'boss', 1796022143176, NULL, NULL, NULL);
INSERT INTO public.rbac_rules VALUES ('upgrade', '01a22b43-09d2-7280-a399-98be6594296c', '*', 'upgrade', 'chart:write', 'delete', 'deny', 'explicit', 'boss', 1796022143442, NULL, NULL, NULL);
INSERT INTO public.rbac_rules VALUES ('upgrade', '01a22b43-0a57-73cf-937f-6a1f03082673', 'bob', 'upgrade', '*', '*', 'allow', 'explicit', 'boss', 1796022143575, NULL, NULL, NULL);
INSERT INTO public.rbac_rules VALUES ('upgrade', '01a22b43-0ab2-739c-9db0-06ea68732a19', 'carol', 'upgrade', 'invoice:*', '*', 'allow', 'explicit', 'boss', 1796022143666, NULL, NULL, NULL);


--
-- Data for Name: record_answers; Type: TABLE DATA; Schema: public; Owner: portcullis
--



--
-- Data for Name: relation_syncs; Type: TABLE DATA; Schema: public; Owner: portcullis
--



--
-- Data for Name: relations; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.relations VALUES ('upgrade', 'sheet', 'first', 1, 'user', 'dora', 0, NULL, NULL, NULL, 3, 1796022157907, false);


--
-- Data for Name: resolver_modules; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.resolver_modules VALUES ('upgrade', '8d85815ad0b331a892e9363d6b32bd3e55988b2cc036997be9314389906a4bcc', '\x0061736d0d000100074e014204016d0505646562756704696e666f047761726e056572726f7208637269746963616c0400056c6576656c030000014002056c6576656c01076d657373616765730100040004656d697401020a2201001d706f727463756c6c69733a7265736f6c7665722f6c6f6740312e302e3005000718014203016b73014001036b657973000004000367657401010a25010020706f727463756c6c69733a7265736f6c7665722f636f6e66696740312e302e30050107a705014221016d050474657874066e756d62657207626f6f6c65616e057465787473076e756d626572730400046b696e64030000017203046e616d6573046b696e64010e64656661756c742d74746c2d6d737904000e6174747269627574652d73706563030002017202046e616d65730872657175697265647f04000a636f6e6669672d6b6579030004017003017073017005016f027373017009017207046e616d65730776657273696f6e730a617474726962757465730606696e70757473070b636f6e6669672d6b6579730809656e64706f696e747307036578740a04000a64657363726970746f7203000b0170750171050474657874017300066e756d62657201750007626f6f6c65616e017f00057465787473010700076e756d62657273010d0004000576616c756503000e017202046e616d65730576616c75650f040005696e70757403001001701101720c0674656e616e7473077375626a6563747306646f6d61696e73087265736f757263657306616374696f6e7305726f6c657307047573657212137265736f757263652d61747472696275746573120677616e74656407066e6f772d6d7377096275646765742d6d7379036578740a04000772657175657374030013016b79017203046e616d65730576616c75650f0674746c2d6d73150400096174747269627574650300160170170172030a617474726962757465731806616273656e7407036578740a04000a7265736f6c7574696f6e030019016d030b756e726561636861626c650974696d65642d6f75740673746174757304000c6661696c7572652d6b696e6403001b017202046b696e641c076d657373616765730400076661696c75726503001d01710307696e76616c69640173000b756e617661696c61626c65011e0008696e7465726e616c0173000400056572726f7203001f0a2401001f706f727463756c6c69733a7265736f6c7665722f747970657340312e302e3005020739014204040008706f6c6c61626c6503010168000140010473656c660101000400165b6d6574686f645d706f6c6c61626c652e626c6f636b01020a17010012776173693a696f2f706f6c6c40302e322e360503070d0142010400056572726f7203010a18010013776173693a696f2f6572726f7240302e322e360504061602030004056572726f7203000308706f6c6c61626c6507e00201421604000c696e7075742d73747265616d030104000d6f75747075742d73747265616d030102030201050400056572726f72030002016903017102156c6173742d6f7065726174696f6e2d6661696c656401040006636c6f736564000004000c73747265616d2d6572726f720300050203020106040008706f6c6c61626c65030007016801016a017701060140010473656c6609000a0400215b6d6574686f645d6f75747075742d73747265616d2e636865636b2d7772697465010b01707d016a0001060140020473656c660908636f6e74656e74730c000d04001b5b6d6574686f645d6f75747075742d73747265616d2e7772697465010e0140010473656c6609000d0400245b6d6574686f645d6f75747075742d73747265616d2e626c6f636b696e672d666c757368010f0169080140010473656c6609001004001f5b6d6574686f645d6f75747075742d73747265616d2e73756273637269626501110a1a010015776173693a696f2f73747265616d7340302e322e3605070724014204016f027373017000014000000104000f6765742d656e7669726f6e6d656e7401020a1f01001a776173693a636c692f656e7669726f6e6d656e7440302e322e360508071d014203016a0000014001067374617475730001000400046578697401010a18010013776173693a636c692f6578697440302e322e3605090611010300050c696e7075742d73747265616d0730014205020302010a04000c696e7075742d73747265616d03000001690101400000020400096765742d737464696e01030a19010014776173693a636c692f737464696e40302e322e36050b0612010300050d6f75747075742d73747265616d0732014205020302010c04000d6f75747075742d73747265616d030000016901014000000204000a6765742d7374646f757401030a1a010015776173693a636c692f7374646f757440302e322e36050d0612010300050d6f75747075742d73747265616d0732014205020302010e04000d6f75747075742d73747265616d030000016901014000000204000a6765742d73746465727201030a1a010015776173693a636c692f73746465727240302e322e36050f071601420104000e7465726d696e616c2d696e70757403010a2201001d776173693a636c692f7465726d696e616c2d696e70757440302e322e360510071701420104000f7465726d696e616c2d6f757470757403010a2301001e776173693a636c692f7465726d696e616c2d6f757470757440302e322e36051106130103000b0e7465726d696e616c2d696e707574073e014206020302011204000e7465726d696e616c2d696e707574030000016901016b0201400000030400126765742d7465726d696e616c2d737464696e01040a2201001d776173693a636c692f7465726d696e616c2d737464696e40302e322e36051306140103000c0f7465726d696e616c2d6f75747075740740014206020302011404000f7465726d696e616c2d6f7574707574030000016901016b0201400000030400136765742d7465726d696e616c2d7374646f757401040a2301001e776173693a636c692f7465726d696e616c2d7374646f757440302e322e36051506140103000c0f7465726d696e616c2d6f75747075740740014206020302011604000f7465726d696e616c2d6f7574707574030000016901016b0201400000030400136765742d7465726d696e616c2d73746465727201040a2301001e776173693a636c692f7465726d696e616c2d73746465727240302e322e36051701ebbf040061736d0100000001670f60027f7f0060017f0060047f7f7f7f0060037f7f7f017f60027f7f017f60047f7f7f7f017f60037f7f7f0060017f017f6000017f60000060057f7f7f7f7f0060067f7f7f7f7f7f0060087f7f7f7f7f7f7f7f0060067f7f7f7f7f7f017f60057f7f7f7f7f017f02e707151d706f727463756c6c69733a7265736f6c7665722f6c6f6740312e302e3004656d6974000620706f727463756c6c69733a7265736f6c7665722f636f6e66696740312e302e3003676574000613776173693a696f2f6572726f7240302e322e30145b7265736f757263652d64726f705d6572726f72000112776173693a696f2f706f6c6c40302e322e30175b7265736f757263652d64726f705d706f6c6c61626c65000115776173693a696f2f73747265616d7340302e322e301b5b7265736f757263652d64726f705d696e7075742d73747265616d000115776173693a696f2f73747265616d7340302e322e301c5b7265736f757263652d64726f705d6f75747075742d73747265616d00011d776173693a636c692f7465726d696e616c2d696e70757440302e322e301d5b7265736f757263652d64726f705d7465726d696e616c2d696e70757400011e776173693a636c692f7465726d696e616c2d6f757470757440302e322e301e5b7265736f757263652d64726f705d7465726d696e616c2d6f757470757400011a776173693a636c692f656e7669726f6e6d656e7440302e322e300f6765742d656e7669726f6e6d656e74000113776173693a636c692f6578697440302e322e300465786974000112776173693a696f2f706f6c6c40302e322e30165b6d6574686f645d706f6c6c61626c652e626c6f636b000115776173693a696f2f73747265616d7340302e322e30215b6d6574686f645d6f75747075742d73747265616d2e636865636b2d7772697465000015776173693a696f2f73747265616d7340302e322e301b5b6d6574686f645d6f75747075742d73747265616d2e7772697465000215776173693a696f2f73747265616d7340302e322e30245b6d6574686f645d6f75747075742d73747265616d2e626c6f636b696e672d666c757368000015776173693a696f2f73747265616d7340302e322e301f5b6d6574686f645d6f75747075742d73747265616d2e737562736372696265000714776173693a636c692f737464696e40302e322e30096765742d737464696e000815776173693a636c692f7374646f757440302e322e300a6765742d7374646f7574000815776173693a636c692f73746465727240302e322e300a6765742d73746465727200081d776173693a636c692f7465726d696e616c2d737464696e40302e322e30126765742d7465726d696e616c2d737464696e00011e776173693a636c692f7465726d696e616c2d7374646f757440302e322e30136765742d7465726d696e616c2d7374646f757400011e776173693a636c692f7465726d696e616c2d73746465727240302e322e30136765742d7465726d696e616c2d737464657272000103d701d50109070108010001010101020a01010807040605090409000004060909020906040b0900010101010a0b01010101060a00040402000906080201000204090605010000040607010108090607040008020000030303020400000004040207000202070200020204030000040304030403000302050102010a0903030109090904070701010107010701070101010101030304070808080707070905080105050407070704040407070307070703010104040003040901060002000009060004040306030c0206040405060d040e0303040a0404020403040501700146460503010002067e147f01418080040b7f00419099040b7f0041000b7f0041010b7f0041010b7f0041d899040b7f0041070b7f0041e099040b7f0041809a040b7f00410b0b7f0041010b7f0041f899040b7f0041d28d040b7f00410d0b7f0041949a040b7f0041fc99040b7f0041d497040b7f0041a09e040b7f00418080080b7f0041c3000b07e40106066d656d6f7279020035636162695f706f73745f706f727463756c6c69733a7265736f6c7665722f7265736f6c76657240312e302e30236465736372696265002134636162695f706f73745f706f727463756c6c69733a7265736f6c7665722f7265736f6c76657240312e302e30237265736f6c766500222b706f727463756c6c69733a7265736f6c7665722f7265736f6c76657240312e302e3023646573637269626500232a706f727463756c6c69733a7265736f6c7665722f7265736f6c76657240312e302e30237265736f6c766500240c636162695f7265616c6c6f630087010964010041010b45e3012d29302c2b48454660da014f5787016e39667e7f678001810168820183013a7b7a85016f6d6b6c3b6a7d7c840173707172860169387874757779766365648c01b001b101b201b301b401b501c901d401d301d601d201e601e501db010ae39103d50102000b962805167f017e057f017c017e23808080800041f0016b220124808080800010af80808000200028022c2202410c6c210341002104024002400240200241aad5aad5004b0d00200028022821052000280224210620002802202107200028021c2108200028021821092000280214210a2000280210210b200028020c210c2000280208210d2000280204210e2000280200210f0240024020030d0041042110410021030c010b10a880808000410421042003410410a5808080002210450d01200221030b20014100360234200120103602302001200336022c02402002450d004100210320052104410821100340200441046a28020021112004280200211202402003200128022c470d002001412c6a1088818080000b200128023020106a221320113602002013417c6a2012360200201341786a20113602002001200341016a2203360234200441086a21042010410c6a211020022003470d000b0b20052002410374410410ae8080800020002802342214410574210341002104201441ffffff3f4b0d01200341f8ffffff074b0d01200028023021150240024020030d0041082110410021030c010b10a880808000410821042003410810a5808080002210450d02201421030b200141003602402001201036023c200120033602382014450d024100210441002102024003402015200241186c6a220328020421052003280200211602400240024002400240024020032d00080e0400010203040b2003280214221141087621102011ad422086200335021084211741808080807821130c040b2003290310211741818080807821130c030b20032d0010410047211141828080807821130c020b410021042003280214221841aad5aad5004b0d0320032802102119024002402018410c6c221a0d004104211a410021030c010b10a88080800041042104201a410410a5808080002210450d04201821032010211a0b200141003602702001201a36026c2001200336026802402018450d004100210341082110201921040340200441046a280200211120042802002112024020032001280268470d00200141e8006a1088818080000b200128026c20106a221320113602002013417c6a2012360200201341786a20113602002001200341016a2203360270200441086a21042010410c6a211020182003470d000b0b20192018410374410410ae8080800020012f006920012d006b411074722110200129026c211720012d006821114183808080782113200128024021040c010b20032802102211410876211020174280808080708320032802142213ad8421170b024020042001280238470d00200141386a109e808080000b200128023c20044105746a22032005360218200320163602142003200536021020032017370308200320103b0005200320113a000420032013360200200341076a20104110763a00002001200441016a2204360240200241016a22022014470d000c040b0b2004201a10cb81808000000b2004200310cb81808000000b2004200310cb81808000000b2015201441186c410810ae80808000200028023c221441057421034100210402400240201441ffffff3f4b0d00200341f8ffffff074b0d00200028023821150240024020030d0041082110410021030c010b10a880808000410821042003410810a5808080002210450d01201421030b2001410036024c20012010360248200120033602442014450d014100210441002102024003402015200241186c6a220328020421052003280200211602400240024002400240024020032d00080e0400010203040b2003280214221141087621102011ad422086200335021084211741808080807821130c040b2003290310211741818080807821130c030b20032d0010410047211141828080807821130c020b410021042003280214221841aad5aad5004b0d0320032802102119024002402018410c6c221a0d004104211a410021030c010b10a88080800041042104201a410410a5808080002210450d04201821032010211a0b200141003602702001201a36026c2001200336026802402018450d004100210341082110201921040340200441046a280200211120042802002112024020032001280268470d00200141e8006a1088818080000b200128026c20106a221320113602002013417c6a2012360200201341786a20113602002001200341016a2203360270200441086a21042010410c6a211020182003470d000b0b20192018410374410410ae8080800020012f006920012d006b411074722110200129026c211720012d006821114183808080782113200128024c21040c010b20032802102211410876211020174280808080708320032802142213ad8421170b024020042001280244470d00200141c4006a109e808080000b200128024820044105746a22032005360218200320163602142003200536021020032017370308200320103b0005200320113a000420032013360200200341076a20104110763a00002001200441016a220436024c200241016a22022014470d000c030b0b2004201a10cb81808000000b2004200310cb81808000000b2015201441186c410810ae8080800020002802442202410c6c21034100210402400240024002400240024002400240200241aad5aad5004b0d00200028024021050240024020030d0041042110410021030c010b10a880808000410421042003410410a5808080002210450d01200221030b20014100360258200120103602542001200336025002402002450d004100210320052104410821100340200441046a280200211120042802002112024020032001280250470d00200141d0006a1088818080000b200128025420106a221320113602002013417c6a2012360200201341786a20113602002001200341016a2203360258200441086a21042010410c6a211020022003470d000b0b4104211020052002410374410410ae808080002000280258221841186c2103410021040240201841d5aad52a4b0d002000280254211420002802502116200029034821174100210402402003450d0010a880808000410421042003410410a5808080002210450d01201821040b20014100360264200120103602602001200436025c02402018450d0041002111201421034100211003402003410c6a2802002113200341086a2802002102200341046a28020021122003280200210502402010200128025c470d00200141dc006a108a818080000b200128026020116a22042012360200200441146a2013360200200441106a20023602002004410c6a2013360200200441086a2012360200200441046a20053602002001201041016a2210360264200341106a2103201141186a211120182010470d000b0b20142018410474410410ae80808000200120012802343602b4012001200129022c3702ac01200120012902383703b801200120012802403602c001200120012902443702c4012001200128024c3602cc01200120012902503703d001200120012802583602d801200120012802643602e4012001200129025c3702dc01200120063602a801200120073602a401200120063602a0012001200836029c01200120093602980120012008360294012001200a360290012001200b36028c012001200a360288012001200c360284012001200d360280012001200c36027c2001200e3602782001200f3602742001200e36027020012017370368200120163602e801200141086a200141e8006a109a80808000200041e000410810ae808080002001280210210c20012802082219418080808078460d0223818080800041003a0000200128022821092001280220211b2001280224210f200128021c21072001280214211c2001280218210d200128020c210b200141e8006a4108200c41057410b380808000200b200c41286c6a21082001280268210a200b2100200c450d0341002105200b21030340200341286a21002003280200221a4102460d0420032b0310211d200328020c21162003280208210420032802042106200328021c2110024002400240024002400240024020032802182213200328022022034b0d00201021110c010b024020030d004101211120102013410110a6808080000c010b201020134101200310a7808080002211450d010b200a20054105746a2210201136020020102003360204201dbd2217422088221ea721152017a7211802400240024002400240024002400240200441808080807873410420044100481b0e050001020304000b201041003a00080240201620154d0d000240201e4200520d0020182016410110a680808000410121180c010b201820164101201510a7808080002218450d090b20102018360210201020153602140c0b0b2010201d390310201041013a00080c0a0b201041023a0008201020164101713a00100c090b201041033a0008200141e8006a4104201541037410b38080800020182015410c6c6a21142001280268210e201e50450d01201821030c020b201041043a00080240200420184d0d0020044103742103024020180d0020162003410810a680808000410821160c010b2016200341082018410374220410a7808080002216450d060b20102016360210201020183602140c070b200e2104201821030240034020032802002213418080808078460d01200341046a2802002112024002402013200341086a28020022114b0d00201221020c010b024020110d004101210220122013410110a6808080000c010b201220134101201110a7808080002202450d080b20042002360200200441046a2011360200200441086a21042003410c6a22032014470d000c030b0b2003410c6a21030b201420036b410c6e210420142003460d000340024020032802002211450d00200341046a2802002011410110a6808080000b2003410c6a21032004417f6a22040d000b0b02402016450d0020182016410c6c410410a6808080000b2010200e360210201020153602140c040b4101200310cb81808000000b4101201510cb81808000000b4108200410cb81808000000b4101201110cb81808000000b410021030240201a410171450d002010200636021c410121030b200541016a2105201020033a00182000210320002008470d000c050b0b2004200310cb81808000000b2004200310cb81808000000b23818080800041013a000020012d0018211020012802142103024002400240200128020c220441808080807873410120044100481b0e03020100020b23818080800041023a000402400240200c2001411b6a2d000041187420012f00194108747220107222044d0d00024020040d002003200c410110a680808000410121030c010b2003200c4101200410a7808080002203450d010b238180808000221020033602082010200436020c0c050b4101200410cb81808000000b238180808000221120103a0008201141013a000402400240200420034d0d00024020030d00200c2004410110a6808080004101210c0c010b200c20044101200310a780808000220c450d010b2381808080002204200c36020c200420033602100c040b4101200310cb81808000000b23818080800041003a000402400240200c2001411b6a2d000041187420012f00194108747220107222044d0d00024020040d002003200c410110a680808000410121030c010b2003200c4101200410a7808080002203450d010b238180808000221020033602082010200436020c0c030b4101200410cb81808000000b200820006b41286e210420082000460d002000411c6a2103034002402003417c6a2802002210450d0020032802002010410110a6808080000b2003416c6a109c80808000200341286a21032004417f6a22040d000b0b02402019450d00200b201941286c410810a6808080000b2381808080002203200a3602042003200c360208200141e8006a4104200741037410b380808000200d2007410c6c6a210220012802682100200d2103024002402007450d0020002104200d21030240034020032802002211418080808078460d01200341046a2802002113024002402011200341086a28020022104b0d00201321120c010b024020100d004101211220132011410110a6808080000c010b201320114101201010a7808080002212450d060b20042012360200200441046a2010360200200441086a21042003410c6a22032002470d000c030b0b2003410c6a21030b200220036b410c6e210420022003460d000340024020032802002210450d00200341046a2802002010410110a6808080000b2003410c6a21032004417f6a22040d000b0b0240201c450d00200d201c410c6c410410a6808080000b2381808080002203200036020c20032007360210200141e8006a4104200941047410b380808000200f200941186c6a211820012802682114200f2103024002402009450d0020142104200f21030240034020032802002213418080808078460d01200341046a2802002102200341146a2802002110200341106a28020021002003410c6a2802002112024002402013200341086a28020022114b0d00200221050c010b024020110d004101210520022013410110a6808080000c010b200220134101201110a7808080002205450d070b20042005360200200441046a201136020002400240201220104b0d00200021110c010b024020100d004101211120002012410110a6808080000c010b200020124101201010a7808080002211450d080b200441086a20113602002004410c6a2010360200200441106a2104200341186a22032018470d000c030b0b200341186a21030b201820036b41186e210420182003460d000340024020032802002210450d00200341046a2802002010410110a6808080000b02402003410c6a2802002210450d00200341106a2802002010410110a6808080000b200341186a21032004417f6a22040d000b0b0240201b450d00200f201b41186c410410a6808080000b23818080800022032014360214200320093602180b2381808080002103200141f0016a24808080800020030f0b4101201010cb81808000000b4101201110cb81808000000b4101201010cb81808000000bfc0301077f024020002d00000d0020002802042101024020002802082202450d00410021030340200120034105746a22042802002004280204410110ae80808000024002400240024020042d00080e0401030302000b20042802102004280214410374410810ae808080000c020b20042802102004280214410110ae808080000c010b20042802142205210620042802102207210402402005450d0003402004280200200441046a280200410110ae80808000200441086a21042006417f6a22060d000b0b20072005410374410410ae808080000b200341016a22032002470d000b0b20012002410574410810ae80808000200028020c2103024020002802102201450d00200121062003210403402004280200200441046a280200410110ae80808000200441086a21042006417f6a22060d000b0b20032001410374410410ae8080800020002802142103024020002802182201450d00200121062003210403402004280200200441046a280200410110ae80808000200441086a2802002004410c6a280200410110ae80808000200441106a21042006417f6a22060d000b0b20032001410474410410ae808080000f0b02400240024020002d00040e020102000b2000280208200028020c410110ae808080000f0b2000280208200028020c410110ae808080000f0b200028020c2000280210410110ae808080000bde11011a7f23808080800041f0006b220024808080800010af808080002000410c6a109d80808000200028025c210120002802542102200028025821032000280250210420002802482105200028024c210620002802442107200028023c2108200028024021092000280238210a2000280230210b2000280234210c200028022c210d2000280224210e2000280228210f20002802202110200028021c211120002802182112200028021021130240024002400240024002400240024002400240200028020c2214200028021422154b0d00201321160c010b024020150d004101211620132014410110a6808080000c010b201320144101201510a7808080002216450d010b238180808000221320163602002013201536020402400240201220104b0d00201121150c010b024020100d004101211520112012410110a6808080000c010b201120124101201010a7808080002215450d020b238180808000221220153602082012201036020c200041e0006a4104200d41047410b380808000200f200d41146c6a211720002802602118200f211002400240200d450d0020182115200f21100240034020102802002213418080808078460d01201041046a28020021112010410c6a2802002116201041106a2d00002114024002402013201041086a28020022124b0d00201121190c010b024020120d004101211920112013410110a6808080000c010b201120134101201210a7808080002219450d070b201520193602002015410c6a2016360200201541086a20143a0000201541046a2012360200201541106a2115201041146a22102017470d000c030b0b201041146a21100b201720106b41146e211520172010460d000340024020102802002212450d00201041046a2802002012410110a6808080000b201041146a21102015417f6a22150d000b0b0240200e450d00200f200e41146c410410a6808080000b238180808000221020183602102010200d360214200041e0006a4104200a41037410b380808000200c200a410c6c6a211420002802602119200c211002400240200a450d0020192115200c21100240034020102802002213418080808078460d01201041046a2802002111024002402013201041086a28020022124b0d00201121160c010b024020120d004101211620112013410110a6808080000c010b201120134101201210a7808080002216450d080b20152016360200201541046a2012360200201541086a21152010410c6a22102014470d000c030b0b2010410c6a21100b201420106b410c6e211520142010460d000340024020102802002212450d00201041046a2802002012410110a6808080000b2010410c6a21102015417f6a22150d000b0b0240200b450d00200c200b410c6c410410a6808080000b238180808000221020193602182010200a36021c200041e0006a41042007410c6c10b380808000200920074104746a21192000280260211720092110024002402007450d0020172115200921100240034020102802002213418080808078460d01201041046a28020021112010410c6a2d00002116024002402013201041086a28020022124b0d00201121140c010b024020120d004101211420112013410110a6808080000c010b201120134101201210a7808080002214450d090b20152014360200201541086a20164101713a0000201541046a20123602002015410c6a2115201041106a22102019470d000c030b0b201041106a21100b20192010460d00201920106b41047621150340024020102802002212450d00201041046a2802002012410110a6808080000b201041106a21102015417f6a22150d000b0b02402008450d0020092008410474410410a6808080000b2381808080002210201736022020102007360224200041e0006a4104200441037410b38080800020062004410c6c6a21142000280260211920062110024002402004450d0020192115200621100240034020102802002213418080808078460d01201041046a2802002111024002402013201041086a28020022124b0d00201121160c010b024020120d004101211620112013410110a6808080000c010b201120134101201210a7808080002216450d0a0b20152016360200201541046a2012360200201541086a21152010410c6a22102014470d000c030b0b2010410c6a21100b201420106b410c6e211520142010460d000340024020102802002212450d00201041046a2802002012410110a6808080000b2010410c6a21102015417f6a22150d000b0b02402005450d0020062005410c6c410410a6808080000b238180808000221020193602282010200436022c200041e0006a4104200141047410b3808080002003200141186c6a210d2000280260210a20032110024002402001450d00200a2115200321100240034020102802002211418080808078460d01201041046a2802002114201041146a2802002112201041106a28020021192010410c6a2802002116024002402011201041086a28020022134b0d00201421170c010b024020130d004101211720142011410110a6808080000c010b201420114101201310a7808080002217450d0b0b20152017360200201541046a201336020002400240201620124b0d00201921130c010b024020120d004101211320192016410110a6808080000c010b201920164101201210a7808080002213450d0c0b201541086a20133602002015410c6a2012360200201541106a2115201041186a2210200d470d000c030b0b201041186a21100b200d20106b41186e2115200d2010460d000340024020102802002212450d00201041046a2802002012410110a6808080000b02402010410c6a2802002212450d00201041106a2802002012410110a6808080000b201041186a21102015417f6a22150d000b0b02402002450d002003200241186c410410a6808080000b2381808080002210200a36023020102001360234200041f0006a24808080800020100f0b4101201510cb81808000000b4101201010cb81808000000b4101201210cb81808000000b4101201210cb81808000000b4101201210cb81808000000b4101201210cb81808000000b4101201310cb81808000000b4101201210cb81808000000bdf0301047f20002802002000280204410110ae808080002000280208200028020c410110ae8080800020002802102101024020002802142202450d00200221032001210403402004280200200441046a280200410110ae80808000200441106a21042003417f6a22030d000b0b20012002410474410410ae80808000200028021821010240200028021c2202450d00200221032001210403402004280200200441046a280200410110ae80808000200441086a21042003417f6a22030d000b0b20012002410374410410ae8080800020002802202101024020002802242202450d00200221032001210403402004280200200441046a280200410110ae808080002004410c6a21042003417f6a22030d000b0b20012002410c6c410410ae80808000200028022821010240200028022c2202450d00200221032001210403402004280200200441046a280200410110ae80808000200441086a21042003417f6a22030d000b0b20012002410374410410ae8080800020002802302101024020002802342200450d00200021032001210403402004280200200441046a280200410110ae80808000200441086a2802002004410c6a280200410110ae80808000200441106a21042003417f6a22030d000b0b20012000410474410410ae808080000bec0b01107f23808080800041c0006b220224808080800010aa808080002002410036022c20024280808080c0003702242002420437021c2002420037021420024280808080800137020c200128026c2103024020012802702204450d0020032004410c6c6a21052002410c6a410c6a2106200128024841046a2107200128024c2208410c6c21092001280218210a200128021c410846210b2003210c0340024002400240200c280208410a470d00200c280204220d29000042e4cac18ba68eddb6e50085200d41086a33000042eee8018584500d010b4100210e02402008450d002009210f2007210d03400240200d41046a2802004107470d00200d280200221028000041edc2b98b0673201041036a28000041e1ce95930773720d004101210e0c020b200d410c6a210d200f41746a220f0d000b0b200241306a200c10d18180800002402002280214220f200228020c470d002002410c6a109b808080000b2002280210200f41286c6a220d200e3a000c200d418280808078360208200d4100360200200d2002290330370318200d20022802383602202002200f41016a3602140c010b02400240200b450d00200a29000042f3e8c98be6edd9b2f200510d010b200241306a41012382808080004180808480006a410a10b180808000200228023421102002280238210e2002280230210d200241306a200c10d1818080004100200e200d41808080807846220f1b210e41012010200f1b21104100200d200f1b211102402002280214220f200228020c470d002002410c6a109b808080000b2002280210200f41286c6a220d200e360214200d2010360210200d201136020c200d418080808078360208200d428180808080f104370300200d2002290330370318200d20022802383602202002200f41016a3602140c010b200241306a200c10d18180800002402002280220220d2002280218470d0020061088818080000b200228021c200d410c6c6a220f2002280238360208200f20022902303702002002200d41016a3602200b200c410c6a220c2005470d000b0b2000200228022c360220200020022902243702182000200229021c370210200020022902143702082000200229020c37020002402001280208220d450d00200128020c200d410110a6808080000b02402001280214220d450d002001280218200d410110a6808080000b02402001280220220d450d002001280224200d410110a6808080000b0240200128022c220d450d002001280230200d410110a6808080000b02402001280238220d450d00200128023c200d410110a6808080000b2001280248210c0240200128024c220f450d00200c210d03400240200d2802002210450d00200d41046a2802002010410110a6808080000b200d410c6a210d200f417f6a220f0d000b0b02402001280244220d450d00200c200d410c6c410410a6808080000b2001280254210c02402001280258220f450d00200c210d03400240200d41106a2802002210450d00200d41146a2802002010410110a6808080000b200d109c80808000200d41206a210d200f417f6a220f0d000b0b02402001280250220d450d00200c200d410574410810a6808080000b2001280260210c02402001280264220f450d00200c210d03400240200d41106a2802002210450d00200d41146a2802002010410110a6808080000b200d109c80808000200d41206a210d200f417f6a220f0d000b0b0240200128025c220d450d00200c200d410574410810a6808080000b02402004450d002003210d03400240200d280200220f450d00200d41046a280200200f410110a6808080000b200d410c6a210d2004417f6a22040d000b0b02402001280268220d450d002003200d410c6c410410a6808080000b2001280278210c0240200128027c220f450d00200c210d03400240200d2802002210450d00200d41046a2802002010410110a6808080000b0240200d410c6a2802002210450d00200d41106a2802002010410110a6808080000b200d41186a210d200f417f6a220f0d000b0b02402001280274220d450d00200c200d41186c410410a6808080000b200241c0006a2480808080000b5501017f23808080800041106b2201248080808000200141086a200020002802004128109f80808000024020012802082200418180808078460d002000200128020c10cb81808000000b200141106a2480808080000bc40101047f02400240024002402000280200220141808080807873410420014100481b0e0401030302000b2001450d0220002802042001410374410810a6808080000f0b20002802042201450d0120002802082001410110a6808080000c010b200028020821020240200028020c2203450d00200221010340024020012802002204450d00200141046a2802002004410110a6808080000b2001410c6a21012003417f6a22030d000b0b20002802042201450d0020022001410c6c410410a6808080000f0b0bd00601057f10aa8080800010a88080800002400240024002400240024002400240024002404118410410a5808080002201450d0010a8808080004107410110a5808080002202450d0120022382808080004191808480006a22032800033600032002200328000036000010a8808080004105410110a5808080002203450d02200141053602142001200336021020014287808080d000370208200120023602042001410736020020032382808080004198808480006a22022d00043a00042003200228000036000010a8808080004128410410a5808080002202450d0310a880808000410a410110a5808080002203450d0420032382808080004180808480006a22042f00083b00082003200429000037000010a8808080004107410110a5808080002204450d05200241023a00242002428780808080fd0037021c2002200436021820024107360214200241003a00102002428a80808080cc3a370208200220033602042002410a3602002004238280808000418a808480006a22032800033600032004200328000036000010a8808080004110410410a5808080002203450d0610a880808000410a410110a5808080002204450d07200341013a000c2003410a360208200320043602042003410a36020020042382808080004180808480006a22052f00083b00082004200529000037000010a8808080004109410110a5808080002204450d082004238280808000419d808480006a22052d00083a00082004200529000037000010a8808080004105410110a5808080002205450d092000410036025020004280808080c000370248200042043702402000420137023820002003360234200042828080801037022c2000200136022820004282808080203702202000200236021c20004285808080203702142000200536021020004289808080d0003702082000200436020420004109360200200523828080800041a6808480006a22002d00043a0004200520002800003600000f0b4104411810cd81808000000b4101410710cb81808000000b4101410510cb81808000000b4104412810cd81808000000b4101410a10cb81808000000b4101410710cb81808000000b4104411010cd81808000000b4101410a10cb81808000000b4101410910cb81808000000b4101410510cb81808000000b5501017f23808080800041106b2201248080808000200141086a200020002802004120109f80808000024020012802082200418180808078460d002000200128020c10cb81808000000b200141106a2480808080000ba20101027f23808080800041106b2204248080808000200441046a200128020022052001280204200241016a220220054101742205200220054b1b22024104200241044b1b2202200310a080808000024002402004280204450d00200428020c2101200428020821020c010b20042802082103200120023602002001200336020441818080807821020b2000200136020420002002360200200441106a2480808080000bb40102027f017e4101210541042106024002402004ad2003ad7e2207422088a7450d00410021030c010b02402007a7220341f8ffffff074d0d00410021030c010b0240024002402001450d002002200420016c4108200310a78080800021060c010b024020030d00410821060c020b10a8808080002003410810a58080800021060b20060d0041082106200041083602040c010b2000200636020441002105410821060b200020066a2003360200200020053602000b0a0020001099808080000b0a0020001097808080000b08001098808080000b0a0020001096808080000b0d002000200110d0808080000f0b0f0020002001200210d2808080000f0b1100200020012002200310d3808080000f0b03000f0b140020002802042000280208200110e9818080000b1700410123828080800041d4928480006a10e1808080000b870402057f027e23808080800041c0006b2202248080808000200241306a20012802002203200128020428020c22041180808080008080808000410421052003210602400240200229033042edbaadb6cd85d4f5e30085200229033842f88299bd95eec6c5b97f8584500d00200241306a200320041180808080008080808000200229033821072002290330210823828080800021050240200842f581c1c3dedccadd1385200742e7e3a9f2ca85ba801985844200510d00200541ab808480006a2103410a21050c020b200341046a2106410821050b200320056a2802002105200628020021030b200220053602102002200336020c20012802082201280200210320022001280204360218200220033602142002200128020836022c2002238380808000ad4220862002412c6aad84370338200223848080800022014181808080006aad4220862207200241146aad84370330200241206a23828080800022034186878480006a200241306a10d081808000200220014182808080006aad422086200241206aad84370338200220072002410c6aad84370330200241146a200341b5808480006a200241306a10d081808000024020022802202201450d0020022802242001410110a6808080000b410420022802182201200228021c108080808000024020022802142203450d0020012003410110a6808080000b200241c0006a2480808080000b0c002001200110ab808080000b140020002802002000280204200110e9818080000b160002402001450d0020002001200210a6808080000b0b080010b2808080000b02000b6201017f23808080800041106b220424808080800020022003200441046a1081808080004180808080782103024020042d0004410171450d002000200428020c2203360208200020042802083602040b20002003360200200441106a2480808080000b3501017f024023828080800041c8998480006a2d00000d002382808080002100109580808000200041c8998480006a41013a00000b0b5301017f024020020d00200042003702000f0b10a88080800002402002200110a5808080002203450d002000200336020c2000200236020820002001360204200020033602000f0b2001200210cd81808000000b090010d180808000000b4d01017f23808080800041106b22062480808080002006200236020c200620013602082000200641086a2382808080004180938480006a22022006410c6a200220032004200510d781808000000b2601017f238280808000220041c58f8480006a41ef0020004198968480006a10d981808000000b6501027f0240200041ff01714103470d00200128020021020240200141046a28020022002802002203450d002002200311818080800080808080000b024020002802042203450d0020022003200028020810a6808080000b2001410c410410a6808080000b0b2001017f024020002802002201450d0020002802042001410110a6808080000b0b6901037f024020002d00004103470d002000280204220028020021010240200041046a28020022022802002203450d002001200311818080800080808080000b024020022802042203450d0020012003200228020810a6808080000b2000410c410410a6808080000b0b2001017f024020002802002201450d0020002802042001410110a6808080000b0b2201017f0240200028020022014101480d0020002802042001410110a6808080000b0bad0101017f23808080800041106b22052480808080000240200220016a220120024f0d004100410010cb81808000000b200541046a200028020022022000280204200120024101742202200120024b1b22024108410420044101461b2201200220014b1b22022003200410bd80808000024020052802044101470d002005280208200528020c10cb81808000000b200528020821042000200236020020002004360204200541106a2480808080000bb60102027f017e4101210641042107024002402005ad2003ad7e2208422088a7450d00410021030c010b02402008a7220341808080807820046b4d0d00410021030c010b02400240024002402001450d002002200520016c2004200310a78080800021070c010b024020030d00200421070c020b10a8808080002003200410a58080800021070b20070d00200020043602040c010b20002007360204410021060b410821070b200020076a2003360200200020063602000b0b00200010bf80808000000b3a01027f23858080800028020021012386808080002102200028020020002802042001200220011b118080808000808080800010c980808000000b0b00200010c180808000000bac0101037f23808080800041106b22012480808080000240200028020022022802042203410171450d00200228020021022001200341017636020420012002360200200123828080800041a8948480006a2000280204200028020822002d000820002d000910c380808000000b200141808080807836020023828080800021022001200036020c2001200241c4948480006a2000280204200028020822002d000820002d000910c380808000000b9b0201047f23808080800041106b220324808080800020032001200210d58180800002400240024020032802002202418080808078470d0020032802082101024002402003280204220410b68180800022050d0020004180808080783602000c010b02400240200510bb8180800022020d00410121060c010b10a8808080002002410110a5808080002206450d042002450d00200620052002fc0a00000b2000200236020820002006360204200020023602000b200441003a00002001450d0120042001410110a6808080000c010b2000418180808078360200200023828080800041f8938480006a2903003702042002450d0020032802042002410110a6808080000b200341106a2480808080000f0b4101200210cb81808000000bc80501037f23808080800041d0006b2205248080808000200520013602202005200036021c2005200236022402400240024002400240410110df8080800041ff01710e03020100010b2387808080002802002206417f4a0d02200541386a200541cf006a23828080800041e88b8480006a41f30010cf8080800020052d0038200528023c10b7808080000c030b2005200020012802181180808080008080808000200520052802044100200528020022011b36022c20052001410120011b360228200523848080800022014187808080006aad422086200541286aad84370340200520014188808080006aad422086200541246aad84370338200541306a200541cf006a23828080800041db888480006a200541386a10cf8080800020052d0030200528023410b7808080000c020b200523848080800022014189808080006aad4220862005411c6aad84370340200520014188808080006aad422086200541246aad84370338200541306a200541cf006a23828080800041c9898480006a200541386a10cf8080800020052d0030200528023410b7808080000c010b2387808080002207200641016a360200024002402007280204450d00200541106a200020012802141180808080008080808000200520043a0045200520033a004420052002360240200520052903103702382387808080002202280204200541386a200228020828021411808080800080808080000c010b200541086a200020012802141180808080008080808000200520043a0045200520033a00442005200236024020052005290308370238200541386a10cd808080000b23828080800041d4998480006a41003a000023878080800022022002280200417f6a360200024020030d00200541386a200541cf006a23828080800041df8d8480006a41db0010cf8080800020052d0038200528023c10b7808080000c010b2000200110ce80808000000b10c980808000000b990803027f047e027f23808080800041d0046b220224808080800002400240024002402001450d000240200128020022032802102201450d00200341146a280200417f6a21030c040b23828080800041f0998480006a2903002204500d0123828080800041eb8a8480006a410020042003290308511b2101410421030c030b23828080800041f0998480006a29030022044200520d010b410021010c010b23828080800041eb8a8480006a41002388808080002903002004511b2101410421030b20022003410920011b36020c2002200123828080800041ef8a8480006a20011b3602080240024023888080800029030022054200520d0023828080800041889a8480006a290300210403402004427f510d0223828080800041889a8480006a2201200442017c220520012903002206200620045122011b370300200621042001450d000b23888080800020053703000b20022005370310200241186a4100418004fc0b00200242003703a004200241800436029c042384808080002101200035020421042002200241186a36029804200035020021062002200420014187808080006aad42208622058422043703c8042002200620014188808080006aad4220868422063703c0042002238980808000ad422086200241106aad8422073703b80420022005200241086aad8422053703b004200241a8046a20024198046a23828080800041a2898480006a200241b0046a10c78080800002400240024020022d00a80422014104470d0020022802a0042201418104490d01410020014180042382808080004180948480006a10d881808000000b024020014103470d0020022802ac04220128020021080240200141046a28020022032802002209450d002008200911818080800080808080000b024020032802042209450d0020082009200328020810a6808080000b2001410c410410a6808080000b200028020c41246a280200210120002802082100200220043703c804200220063703c004200220073703b804200220053703b004200241a8046a200023828080800041a2898480006a200241b0046a2001118280808000808080800020022d00a8044103470d0120022802ac04220128020021030240200141046a28020022002802002208450d002003200811818080800080808080000b024020002802042208450d0020032008200028020810a6808080000b2001410c410410a6808080000c010b200241b0046a2000280208200241186a2001200028020c28021c118280808000808080800020022d00b0044103470d0020022802b404220128020021030240200141046a28020022002802002208450d002003200811818080800080808080000b024020002802042208450d0020032008200028020810a6808080000b2001410c410410a6808080000b200241d0046a2480808080000f0b10b680808000000b140020002802002000280204200110e9818080000b9f0102037f017e23808080800041206b220224808080800020012802042103200128020021042002200028020022012902003702002002238380808000ad42208622052001410c6aad8437031820022005200141086aad8437031020022384808080004187808080006aad4220862002ad843703082004200323828080800041b8808480006a200241086a10dc818080002101200241206a24808080800020010b840201017f23808080800041106b2204248080808000200041043a0000200420013602082004200029020037030020042382808080004190938480006a2002200310dc81808000210120042d000021030240024002402001450d00200341ff01714104470d01238280808000220441eb898480006a41ad01200441a8938480006a10d981808000000b200341ff01714103470d012004280204220028020021030240200041046a28020022012802002202450d002003200211818080800080808080000b024020012802042202450d0020032002200128020810a6808080000b2000410c410410a6808080000c010b200020042903003702000b200441106a2480808080000ba10302037f017e23808080800041206b220224808080800023828080800041909a8480006a22032d00002104200341013a0000238a80808000ad42208621050240024020040d002002200136020c200220052002410c6aad84370310200241046a2002411f6a23828080800041b4888480006a200241106a10cf8080800020022d0004200228020810b78080800010cb808080002101024002400240024010dc8080800041ff01710e0400010203000b200241106a2002411f6a238480808000418b808080006a410010cc8080800020022d0010200228021410b7808080000c020b200241106a2002411f6a238480808000418b808080006a410110cc8080800020022d0010200228021410b7808080000c010b200241106a2002411f6a23828080800041f88a8480006a419d0110cf8080800020022d0010200228021410b7808080000b200141003a00000c010b2002200136020c200220052002410c6aad84370310200241046a2002411f6a2382808080004190878480006a200241106a10cf8080800020022d0004200228020810b7808080000b200241206a2480808080000b090010dd80808000000bcc0203027f017e017f23808080800041206b220324808080800010cb8080800021042000290200210520032002360218200320013602142003200537020c02400240238b80808000280200220641024b0d002003410c6a410010c4808080000c010b2003200641786a36021c2003410c6a2003411c6a10c4808080000b024002400240024020002802082d00000e0400010203000b2003410c6a20012002280224410010cc8080800020032d000c200328021010b7808080000c020b2003410c6a20012002280224410110cc8080800020032d000c200328021010b7808080000c010b23828080800041a0958480006a22002d00002106200041003a00002006450d002003410c6a200123828080800041f88a8480006a419d012002280224118280808000808080800020032d000c200328021010b7808080000b200441003a0000200341206a2480808080000b8e0101037f23808080800041106b220024808080800023828080800041919a8480006a22012d00002102200141013a0000200020023a000f024020024101470d00238280808000210241002000410f6a238c80808000200241e88c8480006a41c100200241e0948480006a10b580808000000b2382808080002102200041106a248080808000200241919a8480006a0b6001017f23808080800041106b2204248080808000200420033a00072004238d80808000ad422086200441076aad843703082000200123828080800041ce828480006a200441086a20021182808080008080808000200441106a2480808080000b9b0301037f23808080800041306b220124808080800041032102024020002d000d0d004101210223828080800041d0998480006a28020041014b0d0010dc8080800041ff017121020b200120023a000b2001200028020836020c20012000280200200028020410de808080002001200129030037021023828080800041ec998480006a2d0000210020012001410b6a3602202001200141106a36021c20012001410c6a3602180240024002402000450d00238280808000220041ec998480006a41013a0000200041cc998480006a220228020021002002410036020020000d010b200141186a2001412f6a23828080800041a4958480006a10ca808080000c010b2382808080002102200141186a200041086a10d980808000220341046a200241cc958480006a10ca80808000200341003a0000200241ec998480006a41013a0000200241cc998480006a220328020021022003200036020020012002360228200141013602242002450d00200220022802002200417f6a36020020004101470d00200141246a41046a10da808080000b200141306a2480808080000b7301017f23808080800041206b220224808080800020022000200110b4808080003602042002238380808000ad422086200241046aad84370310200241086a2002411f6a23828080800041f0878480006a200241106a10cf8080800020022d0008200228020c10b78080800010c980808000000b840201017f23808080800041106b2204248080808000200041043a00002004200136020820042000290200370300200423828080800041d0938480006a2002200310dc81808000210120042d000021030240024002402001450d00200341ff01714104470d01238280808000220441eb898480006a41ad01200441a8938480006a10d981808000000b200341ff01714103470d012004280204220028020021030240200041046a28020022012802002202450d002003200211818080800080808080000b024020012802042202450d0020032002200128020810a6808080000b2000410c410410a6808080000c010b200020042903003702000b200441106a2480808080000b7101017f23808080800041106b2202248080808000024002400240200141084b0d00200120004d0d010b2002410036020c2002410c6a20014104200141044b1b200010c68180800021014100200228020c20011b21010c010b200010be8180800021010b200241106a24808080800020010b090010c980808000000b0a00200010c1818080000b9d0101027f23808080800041106b2204248080808000024002400240200241084b0d00200220034d0d010b410021052004410036020c2004410c6a20024104200241044b1b200310c6818080000d01200428020c2202450d0102402003200120032001491b2203450d00200220002003fc0a00000b200010c181808000200221050c010b2000200310c48180800021050b200441106a24808080800020050b3802017f017e23808080800041106b2201248080808000200029020021022001200036020c20012002370204200141046a10c080808000000b0d002001200010d680808000000b2f01017f23808080800041106b22022480808080002002200136020c20022000360208200241086a10be80808000000bc30203037f017e047f23808080800041106b2202248080808000200128020421032001280200210420002d00002100200241046a10db8080800020022902082105024020022802042201418080808078470d00200542ff01834203520d002005422088a7220628020021070240200641046a28020022082802002209450d002007200911818080800080808080000b024020082802042209450d0020072009200828020810a6808080000b2006410c410410a6808080000b0240024002400240200423828080800041dc8e8480006a4111200328020c220311838080800080808080000d0020004101710d01200423828080800041ed8e8480006a41d80020031183808080008080808000450d010b41012104200141004a0d010c020b41002104200141004c0d010b2005a72001410110a6808080000b200241106a24808080800020040bb70301037f23808080800041a0036b2203248080808000024002400240200241ff024b0d0002402002450d00200341146a20012002fc0a00000b200341146a20026a41003a000020034194036a200341146a200241016a10dd8180800002402003280294034101470d00200323828080800041f8938480006a29030037020c41818080807821020c020b024020032802980310b68180800022010d0041808080807821020c020b02400240200110bb8180800022020d00410121040c010b10a8808080002002410110a5808080002204450d032002450d00200420012002fc0a00000b200320023602102003200436020c0c010b200341086a2001200210c280808000200328020821020b024002402002418180808078460d002000200329020c370204200020023602000c010b024020032d000c4103470d002003280210220228020021040240200241046a28020022012802002205450d002004200511818080800080808080000b024020012802042205450d0020042005200128020810a6808080000b2002410c410410a6808080000b20004180808080783602000b200341a0036a2480808080000f0b4101200210cb81808000000b7201027f23808080800041106b220124808080800020002d00002102200041013a0000200120023a000f024020024101470d00238280808000210041002001410f6a238c80808000200041e88c8480006a41c100200041e0948480006a10b580808000000b200141106a24808080800020000b5701017f024020002802002200410c6a2802002201450d00200041106a2802002001410110a6808080000b02402000417f460d00200020002802042201417f6a36020420014101470d0020004118410410a6808080000b0bd20201057f23808080800041106b220124808080800010a88080800041800421020240024002400240418004410110a5808080002203450d0020012003360208200141800436020402400240024020034180041093818080000d0041800421020340238e80808000280200220441c400470d022001200236020c200141046a200241014101410110bc808080002001280208220320012802042202109381808000450d000b0b2001200310bb81808000220436020c200220044d0d0420040d014101210520032002410110a6808080000c030b2000200436020820004280808080083702002002450d0420032002410110a6808080000c040b200320024101200410a78080800022050d014101200410cb81808000000b410141800410cb81808000000b20012004360204200120053602080b2000200128020c360208200020012902043702000b200141106a2480808080000bb50201057f23808080800041106b220024808080800041032101024023828080800041dc998480006a2d0000417f6a220241ff01714103490d00200041046a23828080800041da8c8480006a410e10d8808080000240024020002802042203418080808078470d00410221020c010b0240024002400240200028020c417f6a0e0400020201020b200028020822042d00004130470d01410321014102210220030d020c030b2000280208220428000041e6eab1e306470d00410221014101210220030d010c020b41012101410021022003450d01200028020821040b20042003410110a6808080000b23828080800041dc998480006a220320032d00002203200120031b3a00002003450d0041032102200341044f0d004183808410200341037441f801717621020b200041106a24808080800020020b0900109281808000000bf10102037f027e23808080800041106b220324808080800020032001200228020c22041180808080008080808000410421022001210502400240200329030042edbaadb6cd85d4f5e30085200329030842f88299bd95eec6c5b97f8584500d002003200120041180808080008080808000200329030821062003290300210723828080800021020240200742f581c1c3dedccadd1385200642e7e3a9f2ca85ba801985844200510d00200241d38d8480006a2101410c21020c020b200141046a2105410821020b200120026a2802002102200528020021010b2000200236020420002001360200200341106a2480808080000b6d01027f238f8080800022012001280200220241016a36020041002101024020024100480d004101210123828080800041d4998480006a2d00000d00238280808000220141d4998480006a20003a0000200141d0998480006a2201200128020041016a360200410221010b20010b1c0020002802002001200028020428020c11848080800080808080000b9d0201047f23808080800041106b2202248080808000024002400240238f8080800028020041ffffffff0771450d0010e280808000450d010b238780808000220328020021042003417f36020020040d01238780808000220341003602002003280208210520032001360208200328020421042003200036020402402004450d00024020052802002203450d002004200311818080800080808080000b20052802042203450d0020042003200528020810a6808080000b200241106a2480808080000f0b2382808080002203418c8e8480006a41e900200341f4958480006a10d981808000000b200241046a2002410f6a23828080800041a18c8480006a41f30010cf8080800020022d0004200228020810b78080800010c980808000000b130023828080800041d0998480006a280200450b840201017f23808080800041106b2204248080808000200041043a00002004200136020820042000290200370300200423828080800041b8938480006a2002200310dc81808000210120042d000021030240024002402001450d00200341ff01714104470d01238280808000220441eb898480006a41ad01200441a8938480006a10d981808000000b200341ff01714103470d012004280204220028020021030240200041046a28020022012802002202450d002003200211818080800080808080000b024020012802042202450d0020032002200128020810a6808080000b2000410c410410a6808080000c010b200020042903003702000b200441106a2480808080000b2501017f200023828080800041d88b8480006a2202290208370208200020022902003702000b2501017f200023828080800041c88b8480006a2202290208370208200020022902003702000b8d0204037f017e027f017e41002103024041002000280208220428020422052004290308220642ffffffff0f200642ffffffff0f541ba76b2207200720054b1b2207200220072002491b2208450d00200428020020062005ad220920062009541ba76a20012008fc0a00000b200420062008ad7c3703080240200720024f0d002382808080004190968480006a290300220642ff01834204510d00024020002d00004103470d002000280204220228020021070240200241046a28020022042802002205450d002007200511818080800080808080000b024020042802042205450d0020072005200428020810a6808080000b2002410c410410a6808080000b20002006370200410121030b20030b6301017f024002400240200220002802082200280200200028020822036b4d0d002000200320024101410110bc80808000200028020821030c010b2002450d010b2002450d00200028020420036a20012002fc0a00000b2000200320026a36020841000bf70202037f017e23808080800041106b22032480808080000240024020020d00410021040c010b02400240034002400240410220012002108e818080002204417f470d00200341003a000b200341003b0009200341003a00082003238e80808000280200220436020c2004411b460d01200341086a21040c040b2003200436020c200341043a00082382808080002105024020040d0020054190968480006a21040c040b20022004490d02200120046a2101200220046b21020b20020d000b410021040c020b20042002200223828080800041c8968480006a10d881808000000b02402004290300220642ff01834204520d00410021040c010b024020002d00004103470d002000280204220428020021010240200441046a28020022022802002205450d002001200511818080800080808080000b024020022802042205450d0020012005200228020810a6808080000b2004410c410410a6808080000b20002006370200410121040b200341106a24808080800020040bac0501077f23808080800041106b22042480808080000240024002402003450d00200241046a21052003410374220641786a41037641016a2107410021080240034020052802000d01200541086a2105200841016a2108200641786a22060d000b200721080b02400240024020032008490d0020032008460d03200320086b2107200220084103746a210903400240410220092007411020074110491b108d818080002205417f470d00200441003a000b200441003b0009200441003a00082004238e80808000280200220536020c2005411b460d01200441086a21050c060b2004200536020c200441043a00082382808080002108024020050d0020084190968480006a21050c060b200941046a21082007410374220341786a41037641016a210a4100210602400340200520082802002202490d01200841086a2108200641016a2106200520026b2105200341786a22030d000b200a21060b20072006490d02024020072006470d002005450d05238280808000220541888d8480006a41cf00200541f0948480006a10d981808000000b200920064103746a220928020422082005490d03200720066b21072009200820056b3602042009200928020020056a36020020042d000822054104460d0020054103470d00200428020c220528020021060240200541046a28020022082802002203450d002006200311818080800080808080000b024020082802042203450d0020062003200828020810a6808080000b2005410c410410a6808080000c000b0b2008200320032382808080004190958480006a10d881808000000b2006200720072382808080004190958480006a10d881808000000b238280808000220541af8d8480006a41c70020054180958480006a10d981808000000b200041043a00000c010b200020052903003702000b200441106a2480808080000b480002402000280200418080808078460d0020012000280204200028020810e2818080000f0b20012802002001280204200028020c2802002200280200200028020410dc818080000b1b00200023828080800041a8968480006a360204200020013602000b0c00200020012902003703000b5b01027f200128020421022001280200210310a88080800002404108410410a58080800022010d004104410810cd81808000000b2001200236020420012003360200200023828080800041a8968480006a360204200020013602000b0f002000280200200110e8818080000b140020012000280200200028020410e2818080000b5401017f410421040240410220022003411020034110491b108d818080002203417f470d0041002104200041003b0001200041036a41003a0000238e8080800028020021030b20002003360204200020043a00000b040041010b0900200041043a00000b4c01017f410421040240410220022003108e818080002203417f470d0041002104200041003b0001200041036a41003a0000238e8080800028020021030b20002003360204200020043a00000bef0201057f0240024020030d00410021040c010b2003410371210541002106410021040240024020034104490d002002411c6a2107200341fcffffff00712108410021044100210603402007280200200741786a280200200741706a280200200741686a28020020046a6a6a6a2104200741206a21072008200641046a2206470d000b2005450d010b200641037420026a41046a21070340200728020020046a2104200741086a21072005417f6a22050d000b0b20034103742107024020042001280200200128020822056b4d0d002001200520044101410110bc808080000b200220076a210820012802082105034020022802002106024002400240200241046a2802002207200128020020056b4d0d002001200520074101410110bc80808000200128020821050c010b2007450d010b2007450d00200128020420056a20062007fc0a00000b2001200520076a2205360208200241086a22022008470d000b0b200041043a0000200020043602040b040041010be00201057f02402003450d002003410371210441002105410021060240024020034104490d002002411c6a2107200341fcffffff00712108410021054100210603402007280200200741786a280200200741706a280200200741686a28020020066a6a6a6a2106200741206a21072008200541046a2205470d000b2004450d010b200541037420026a41046a21070340200728020020066a2106200741086a21072004417f6a22040d000b0b20034103742107024020062001280200200128020822046b4d0d002001200420064101410110bc80808000200128020821040b200220076a2105034020022802002106024002400240200241046a2802002207200128020020046b4d0d002001200420074101410110bc80808000200128020821040c010b2007450d010b2007450d00200128020420046a20062007fc0a00000b2001200420076a2204360208200241086a22022005470d000b0b200041043a00000b0900200041043a00000b6a01017f02400240024020032001280200200128020822046b4d0d002001200420034101410110bc80808000200128020821040c010b2003450d010b2003450d00200128020420046a20022003fc0a00000b20002003360204200041043a00002001200420036a3602080b6301017f02400240024020032001280200200128020822046b4d0d002001200420034101410110bc80808000200128020821040c010b2003450d010b2003450d00200128020420046a20022003fc0a00000b200041043a00002001200420036a3602080ba90201067f200028020821020240024020014180014f0d00410121030c010b024020014180104f0d00410221030c010b41034104200141808004491b21030b2002210402402003200028020020026b4d0d002000200220034101410110bc80808000200028020821040b200028020420046a2104024002402001418001490d002001413f7141807f72210520014106762106024020014180104f0d00200420053a00012004200641c001723a00000c020b2001410c7621072006413f7141807f7221060240200141ffff034b0d00200420053a0002200420063a00012004200741e001723a00000c020b200420053a0003200420063a000220042007413f7141807f723a0001200420014112764170723a00000c010b200420013a00000b2000200320026a36020841000b5e01017f02400240024020022000280200200028020822036b4d0d002000200320024101410110bc80808000200028020821030c010b2002450d010b2002450d00200028020420036a20012002fc0a00000b2000200320026a36020841000bb30102027f017e23808080800041206b220224808080800002402001280200418080808078470d00200128020c21032002410036021c2002428080808010370214200241146a2382808080004190948480006a20032802002203280200200328020410dc818080001a2002200228021c220336021020022002290214220437030820012003360208200120043702000b20002001360200200023828080800041b8968480006a360204200241206a2480808080000b970202027f017e23808080800041306b220224808080800002402001280200418080808078470d00200128020c21032002410036022c2002428080808010370224200241246a2382808080004190948480006a20032802002203280200200328020410dc818080001a2002200228022c220336022020022002290224220437031820012003360208200120043702000b2001280208210320014100360208200129020021042001428080808010370200200220033602102002200437030810a8808080000240410c410410a58080800022010d004104410c10cd81808000000b2001200228021036020820012002290308370200200023828080800041b8968480006a36020420002001360200200241306a2480808080000bed0304057f017e017f017e23808080800041106b22022480808080002002410036020c024002402001418001490d002001413f7141807f72210320014106762104024020014180104f0d00200220033a000d2002200441c001723a000c410221010c020b2001410c7621052004413f7141807f7221040240200141ffff034b0d00200220033a000e200220043a000d2002200541e001723a000c410321010c020b200220033a000f200220043a000e20022005413f7141807f723a000d200220014112764170723a000c410421010c010b200220013a000c410121010b41002106024041002000280208220328020422052003290308220742ffffffff0f200742ffffffff0f541ba76b2204200420054b1b2204200120042001491b2208450d00200328020020072005ad220920072009541ba76a2002410c6a2008fc0a00000b200320072008ad7c3703080240200420014f0d002382808080004190968480006a290300220742ff01834204510d00024020002d00004103470d002000280204220128020021040240200141046a28020022032802002205450d002004200511818080800080808080000b024020032802042205450d0020042005200328020810a6808080000b2001410c410410a6808080000b20002007370200410121060b200241106a24808080800020060b1b0020002382808080004190938480006a2001200210dc818080000bb90201047f23808080800041106b22022480808080002002410036020c024002402001418001490d002001413f7141807f72210320014106762104024020014180104f0d00200220033a000d2002200441c001723a000c410221010c020b2001410c7621052004413f7141807f7221040240200141ffff034b0d00200220033a000e200220043a000d2002200541e001723a000c410321010c020b200220033a000f200220043a000e20022005413f7141807f723a000d200220014112764170723a000c410421010c010b200220013a000c410121010b0240200120002802082200280200200028020822036b4d0d002000200320014101410110bc80808000200028020821030b02402001450d00200028020420036a2002410c6a2001fc0a00000b2000200320016a360208200241106a24808080800041000b1b00200023828080800041b8938480006a2001200210dc818080000bf40101047f23808080800041106b22022480808080002002410036020c024002402001418001490d002001413f7141807f72210320014106762104024020014180104f0d00200220033a000d2002200441c001723a000c410221010c020b2001410c7621052004413f7141807f7221040240200141ffff034b0d00200220033a000e200220043a000d2002200541e001723a000c410321010c020b200220033a000f200220043a000e20022005413f7141807f723a000d200220014112764170723a000c410421010c010b200220013a000c410121010b20002002410c6a200110e8808080002101200241106a24808080800020010b1b00200023828080800041d0938480006a2001200210dc818080000b0900200041003602000b1b0020002382808080004190948480006a2001200210dc818080000bf20101037f23808080800041106b22042480808080000240024002402003450d0003400240024002400240410220022003108e818080002205417f470d00200441003a000b200441003b0009200441003a00082004238e80808000280200220536020c2005411b460d03200441086a21050c010b2004200536020c200441043a0008238280808000210620050d0120064190968480006a21050b200020052903003702000c050b20032005490d03200220056a2102200320056b21030b20030d000b0b200041043a00000c010b20052003200323828080800041c8968480006a10d881808000000b200441106a2480808080000b460002400240024020010d002003450d0210a8808080002003200210a5808080002202450d010c020b200020012002200310a78080800022020d010b10dd80808000000b20020b5501017f23808080800041106b2201248080808000200141086a20002000280200410c108981808000024020012802082200418180808078460d002000200128020c10cb81808000000b200141106a2480808080000ba20101027f23808080800041106b2204248080808000200441046a200128020022052001280204200241016a220220054101742205200220054b1b22024104200241044b1b22022003108b81808000024002402004280204450d00200428020c2101200428020821020c010b20042802082103200120023602002001200336020441818080807821020b2000200136020420002002360200200441106a2480808080000b5501017f23808080800041106b2201248080808000200141086a200020002802004118108981808000024020012802082200418180808078460d002000200128020c10cb81808000000b200141106a2480808080000bb30102027f017e4101210541042106024002402004ad2003ad7e2207422088a7450d00410021030c010b02402007a7220341fcffffff074d0d00410021030c010b02400240024002402001450d002002200420016c4104200310a78080800021060c010b024020030d00410421060c020b10a8808080002003410410a58080800021060b20060d00200041043602040c010b20002006360204410021050b410821060b200020066a2003360200200020053602000b02000b6301017f024020024100480d0002402002450d0003400240200141046a2802002203450d00200020012802002003108e818080000f0b200141086a21012002417f6a22020d000b0b200041004100108e818080000f0b238e80808000411c360200417f0b910302017f027e23808080800041306b22032480808080000240024020002003412c6a200341246a200341286a10ae8180800041004e0d00417f21000c010b2003420037031803400240200328022c200341186a200341106a10a3818080000d0041c0002100024020032d00104101460d002003280214109781808000411d21000b238e808080002000360200417f21000c020b0240200329031822044200520d00200328022810a28180800020032903182204500d010b0b20032001360208200320042002ad220520042005541b3e020c0240200328022c200341086a200341106a10a4818080000d0041c0002100024020032d00104101460d002003280214109781808000411d21000b238e808080002000360200417f21000c010b0240200328022c200341106a10a5818080000d0041c0002100024020032d00104101460d002003280214109781808000411d21000b238e808080002000360200417f21000c010b200328020c210020032802242202450d00200220022903002000ad7c3703000b200341306a24808080800020000b2b01017f23808080800041106b2201248080808000200120004100473a000f2001410f6a10a181808000000b2000024023828080800041d4978480006a280200417f470d001091818080000b0bfa02010c7f23808080800041106b22002480808080002382808080002101200041086a10a081808000024002400240200028020c22020d00200141989a8480006a21030c010b200241016a2201450d012001410410c38180800021032000280208210120032104410021050340200141086a28020021062001280200210720042001410c6a2802002208200141046a28020022096a220a41026a10be81808000220b3602000240200b0d0002402005450d00200321010340200128020010c181808000200141046a21012005417f6a22050d000b0b200310c1818080000c030b02402009450d00200b20072009fc0a00000b200b20096a2209413d3a000002402008450d00200941016a20062008fc0a00000b200b200a6a41016a41003a0000200141106a2101200441046a21042002200541016a2205470d000b200041086a1096818080000b23828080800041d4978480006a2003360200200041106a2480808080000f0b200041086a10968180800041c600108f81808000000b0300000b6a01017f23828080800041d8978480006a28020021020240024020000d00200210ba8180800022000d01238e80808000413036020041000f0b02402001200210bb8180800041016a4f0d00238e8080800041c40036020041000f0b2000200210b98180800021000b20000ba70303037f017e017f024002400240238280808000419c9a8480006a2d00000d00238280808000419c9a8480006a41013a000010af81808000417f4a0d0020002802002101200028020421020c010b238280808000210320002902002204422088a721022004a7210102400240200341a49a8480006a2802002200200341a89a8480006a280200470d00238280808000220541a09a8480006a280200210302402000200541ac9a8480006a280200470d0020032000410174410820001b2205410c6c10c4818080002203450d02238280808000220041ac9a8480006a2005360200200041a09a8480006a2003360200200041a89a8480006a28020021000b20032000410c6c6a2203200041016a360204200341003a0000238280808000220041a89a8480006a2203200328020041016a360200200041a49a8480006a28020021000b238280808000220541a09a8480006a2802002000410c6c6a220341013a0000200541a49a8480006a2003280204360200200320043702042000417f4a0d020c010b238e8080800041303602000b200120022802001181808080008080808000417f21000b20000ba80101017f02400240238280808000419c9a8480006a2d00000d00238280808000419c9a8480006a41013a00004100210110af818080004100480d010b23828080800021010240024020004100480d002000200141a89a8480006a280200490d010b238e80808000410836020041000f0b024023828080800041a09a8480006a2802002000410c6c6a22002d00000d00238e80808000410836020041000f0b200041046a21010b20010b7b01027f024020002802042201450d0020002802002202210003400240200041046a280200450d00200028020010c1818080000b2000420037020002402000410c6a280200450d00200041086a28020010c1818080000b200041086a4200370200200041106a21002001417f6a22010d000b200210c1818080000b0b0a0020001082808080000b0a0020001083808080000b040020000b0a0020001084808080000b040020000b0a0020001085808080000b040020000b0a0020001086808080000b0a0020001087808080000b3501017f23808080800041106b2201248080808000200141086a10888080800020002001290208370200200141106a2480808080000b0e0020002d0000108980808000000b0a002000108a808080000b7702017f017e23808080800041106b220324808080800020002003108b80808000024002400240024020032d00000e020002010b200329030821040b20012004370300410121000c010b2002200335020c422086420020033100082204501b200484370200410021000b200341106a24808080800020000b5c01017f23808080800041106b2203248080808000200020012802002001280204200341046a108c80808000024020032d000441014722010d002002200328020c360204200220032d00083a00000b200341106a24808080800020010b5201017f23808080800041106b22022480808080002000200241046a108d80808000024020022d000441014722000d002001200228020c360204200120022d00083a00000b200241106a24808080800020000b0a002000108e808080000b0800108f808080000b08001090808080000b08001091808080000b4101017f23808080800041106b2201248080808000200141086a1092808080002000200128020c36020020012d00082100200141106a24808080800020004101460b4101017f23808080800041106b2201248080808000200141086a1093808080002000200128020c36020020012d00082100200141106a24808080800020004101460b4101017f23808080800041106b2201248080808000200141086a1094808080002000200128020c36020020012d00082100200141106a24808080800020004101460b080010c8818080000bbc0101037f23808080800041106b2204248080808000417f2105024020001095818080002200450d000240200028020428020822060d00238e80808000413a3602000c010b4100210502402000280200200120022004410c6a2006118580808000808080800041004e0d00417f21050c010b2003450d000240200428020c220228020022000d002002200128020010a681808000360200200428020c28020021000b200320001099818080003602000b200441106a24808080800020050bb20201037f23808080800041206b22002480808080000240024002404101411410c38180800022010d00238e8080800041303602000c010b20002001360218200023828080800041dc978480006a36021c20002000290218370310417f2101200041106a1094818080004100480d0102404101411410c38180800022020d00238e8080800041303602000c020b2002410136020020002002360218200023828080800041dc978480006a36021c20002000290218370308200041086a1094818080004100480d0102404101411410c38180800022010d00238e8080800041303602000c010b2001410236020020002001360218200023828080800041dc978480006a36021c20002000290218370300410021012000109481808000417f4a0d010b417f21010b200041206a24808080800020010b6001017f0240200028020c2201450d0020011098818080000b024020002802102201450d0020011098818080000b024020002802042201450d002001109a818080000b024020002802082201450d002001109c818080000b200010c1818080000b6601017f02402000280200450d00238e80808000413a360200417f0f0b0240200028020422040d00200010a78180800022043602040b20012004109b8180800036020002402002450d00200241003602000b02402003450d0020032000410c6a3602000b41000b800101017f0240200028020822040d0002400240024002402000280200417f6a0e020200010b10a98180800021040c020b238e80808000413a360200417f0f0b10a88180800021040b200020043602080b20012004109d8180800036020002402002450d00200241003602000b02402003450d002003200041106a3602000b41000b17000240419001450d0020014100419001fc0b000b41000b1300418080808001418080802020002802001b0ba80101017f23808080800041106b22012480808080000240024002400240024020002802000e03000102030b2001410c6a10aa81808000450d02200128020c109e81808000410121000c030b200141086a10ab81808000450d012001280208109f81808000410121000c020b200141046a10ac81808000450d002001280204109f81808000410121000c010b238e80808000413b360200410021000b200141106a24808080800020000b9b0101047f1090818080004100210102402000413d10b78180800022022000460d002000200220006b22036a2d00002102239080808000210420020d0020042802002204450d0020042802002202450d00200441046a210402400340024020002002200310bc818080000d00200220036a22022d0000413d460d020b20042802002102200441046a210420020d000c020b0b200241016a21010b20010bec0201037f0240024002400240200141ff01712202450d002000410371450d02024020002d000022030d0020000f0b2003200141ff0171470d0120000f0b2000200010bb818080006a0f0b0240200041016a22034103710d00200321000c010b20032d00002204450d012004200141ff0171460d010240200041026a22034103710d00200321000c010b20032d00002204450d012004200141ff0171460d010240200041036a22034103710d00200321000c010b20032d00002204450d012004200141ff0171460d01200041046a21000b02404180828408200028020022036b20037241808182847871418081828478470d00200241818284086c210203404180828408200320027322036b20037241808182847871418081828478470d014180828408200041046a220028020022036b20037241808182847871418081828478460d000b0b2000417f6a21030340200341016a22032d00002200450d012000200141ff0171470d000b0b20030bfa0201027f0240024002402001200073410371450d0020012d000021020c010b02402001410371450d00200020012d000022023a0000024020020d0020000f0b200041016a21030240200141016a22024103710d0020032100200221010c010b200320022d000022023a00002002450d02200041026a21030240200141026a22024103710d0020032100200221010c010b200320022d000022023a00002002450d02200041036a21030240200141036a22024103710d0020032100200221010c010b200320022d000022023a00002002450d02200041046a2100200141046a21010b4180828408200128020022026b20027241808182847871418081828478470d00034020002002360200200041046a21004180828408200141046a220128020022026b20027241808182847871418081828478460d000b0b200020023a00000240200241ff01710d0020000f0b200141016a2102200021030340200341016a220320022d000022003a0000200241016a210220000d000b0b20030b0f002000200110b8818080001a20000b3001027f0240200010bb8180800041016a220110be818080002202450d002001450d00200220002001fc0a00000b20020bcf0101037f20002101024002402000410371450d00024020002d00000d00200020006b0f0b200041016a2201410371450d0020012d0000450d01200041026a2201410371450d0020012d0000450d01200041036a2201410371450d0020012d0000450d01200041046a22014103710d010b2001417c6a21022001417b6a21010340200141046a21014180828408200241046a220228020022036b20037241808182847871418081828478460d000b0340200141016a210120022d00002103200241016a210220030d000b0b200120006b0b870101027f024020020d0041000f0b0240024020002d000022030d00410021030c010b200041016a21002002417f6a210202400340200341ff017120012d00002204470d012004450d0120024100460d012002417f6a2102200141016a210120002d00002103200041016a210020030d000b410021030b200341ff017121030b200320012d00006b0b4e00024020000d003f004110740f0b0240200041ffff03710d002000417f4c0d000240200041107640002200417f470d00238e808080004130360200417f0f0b20004110740f0b109281808000000b0a00200010bf818080000ba32d010b7f23808080800041106b2201248080808000024002400240024002400240024002400240024002400240024023828080800041b09a8480006a28021822020d00024023828080800041889e8480006a28020022030d00238280808000220441889e8480006a220541003602142005427f37020c200542808084808080c000370204200441b09a8480006a41003602bc032005200141086a41707141d8aad5aa057322033602000b23918080800021052392808080002005490d0123918080800021054100210223928080800020056b41d900490d002391808080002104239280808000210623828080800041b09a8480006a2205200620046b22063602c403200520043602c00320052004360210200520063602b403200520063602b003200520033602242005417f36022041002104034023828080800041b09a8480006a20046a2205413c6a200541306a22033602002003200541286a2206360200200541346a2006360200200541c4006a200541386a220636020020062003360200200541cc006a200541c0006a220336020020032006360200200541c8006a2003360200200441206a2204418002470d000b2392808080002203414c6a4138360200238280808000220441b09a8480006a2205200441889e8480006a28021036021c20052391808080002204417820046b410f7122066a22023602182005200320046b20066b41486a220436020c200220044101723602040b02400240200041ec014b0d00024023828080800041b09a8480006a28020022074110200041136a41f003712000410b491b22034103762204762205410371450d000240024023828080800041b09a8480006a200541017120047241017322034103746a220441286a2205200428023022042802082206470d0023828080800041b09a8480006a2007417e200377713602000c010b200520063602082006200536020c0b200441086a2105200420034103742203410372360204200420036a220420042802044101723602040c0e0b200323828080800041b09a8480006a28020822084d0d0102402005450d000240024023828080800041b09a8480006a200520047441022004742205410020056b72716822044103746a220541286a2206200528023022052802082200470d0023828080800041b09a8480006a2007417e2004777122073602000c010b200620003602082000200636020c0b200520034103723602042005200441037422046a200420036b2206360200200520036a2200200641017236020402402008450d0023828080800041b09a8480006a220420084178716a41286a21032004280214210402400240200741012008410376742209710d0023828080800041b09a8480006a2007200972360200200321090c010b200328020821090b2009200436020c200320043602082004200336020c200420093602080b200541086a210523828080800041b09a8480006a22042000360214200420063602080c0e0b23828080800041b09a8480006a280204220a450d0123828080800041b09a8480006a200a684102746a2802b002220028020441787120036b210420002106024003400240200628021022050d0020062802142205450d020b200528020441787120036b22062004200620044922061b21042005200020061b2100200521060c000b0b200028021821020240200028020c22052000460d0020002802082206200536020c200520063602080c0d0b0240024020002802142206450d00200041146a21090c010b20002802102206450d04200041106a21090b03402009210b2006220541146a2109200528021422060d00200541106a2109200528021022060d000b200b41003602000c0c0b417f2103200041bf7f4b0d00200041136a2204417071210323828080800041b09a8480006a280204220a450d0041002105411f21080240200041ecffff074b0d002003412620044108766722046b7641017120044101746b413e6a21080b410020036b2104024002400240024023828080800041b09a8480006a20084102746a2802b00222060d00410021090c010b4100210520034100411920084101766b2008411f461b7421004100210903400240200628020441787120036b220720044f0d00200721042006210920070d004100210420062109200621050c030b200520062802142207200720062000411d764104716a280210220b461b200520071b210520004101742100200b2106200b0d000b0b024020052009720d004100210941022008742205410020056b72200a712205450d0323828080800041b09a8480006a2005684102746a2802b00221050b2005450d010b0340200528020441787120036b220720044921000240200528021022060d00200528021421060b2007200420001b21042005200920001b21092006210520060d000b0b2009450d00200423828080800041b09a8480006a28020820036b4f0d002009280218210b0240200928020c22052009460d0020092802082206200536020c200520063602080c0b0b0240024020092802142206450d00200941146a21000c010b20092802102206450d04200941106a21000b0340200021072006220541146a2100200528021422060d00200541106a2100200528021022060d000b200741003602000c0a0b024023828080800041b09a8480006a28020822052003490d0023828080800041b09a8480006a280214210402400240200520036b22064110490d00200420036a22002006410172360204200420056a2006360200200420034103723602040c010b20042005410372360204200420056a2205200528020441017236020441002100410021060b23828080800041b09a8480006a2205200636020820052000360214200441086a21050c0c0b024023828080800041b09a8480006a28020c220020034d0d00200220036a2205200020036b220441017236020423828080800041b09a8480006a220620053602182006200436020c20022003410372360204200241086a21050c0c0b0240024023828080800041889e8480006a280200450d0023828080800041889e8480006a28020821040c010b238280808000220441889e8480006a220541003602142005427f37020c200542808084808080c000370204200441b09a8480006a41003602bc0320052001410c6a41707141d8aad5aa05733602004180800421040b4100210502402004200341c7006a22086a2207410020046b220b71220920034b0d00238e8080800041303602000c0c0b024023828080800041b09a8480006a2802b8032204450d00024023828080800041b09a8480006a2802b003220620096a220a20064d0d00200a20044d0d010b238e8080800041303602000c0c0b23828080800041b09a8480006a2d00bc034104710d050240024002402002450d0023828080800041b09a8480006a41c0036a210403400240200220042802002206490d002002200620042802046a490d030b200428020822040d000b0b410010bd818080002207417f460d062009210b024023828080800041889e8480006a2802042204417f6a2206200771450d00200920076b200620076a410020046b716a210b0b2382808080002104200b20034d0d06200b41feffffff074b0d06200441b09a8480006a2802b0032104024023828080800041b09a8480006a2802b8032206450d002004200b6a220020044d0d07200020064b0d070b200b10bd8180800022042007470d010c080b200720006b200b71220b41feffffff074b0d05200b10bd818080002207200428020020042802046a460d04200721040b0240200b200341c8006a4f0d002004417f460d0002402008200b6b23828080800041889e8480006a28020822066a410020066b71220641feffffff074d0d00200421070c080b0240200610bd81808000417f460d002006200b6a210b200421070c080b4100200b6b10bd818080001a0c050b200421072004417f470d060c040b000b410021050c080b410021050c060b2007417f470d020b23828080800041b09a8480006a220420042802bc034104723602bc030b200941feffffff074b0d01200910bd818080002107410010bd8180800021042007417f460d012004417f460d01200720044f0d01200420076b220b200341386a4d0d010b23828080800041b09a8480006a220420042802b003200b6a22063602b0030240200620042802b4034d0d0023828080800041b09a8480006a20063602b4030b024002400240024023828080800041b09a8480006a2802182206450d0023828080800041b09a8480006a41c0036a21040340200720042802002200200428020422096a460d02200428020822040d000c030b0b0240024023828080800041b09a8480006a2802102204450d00200720044f0d010b23828080800041b09a8480006a20073602100b41002106238280808000220041b09a8480006a220441003602cc032004200b3602c403200420073602c0032004417f3602202004200041889e8480006a280200360224034023828080800041b09a8480006a20066a2204413c6a200441306a22003602002000200441286a2209360200200441346a2009360200200441c4006a200441386a220936020020092000360200200441cc006a200441c0006a220036020020002009360200200441c8006a2000360200200641206a2206418002470d000b2007417820076b410f7122046a2206200b41486a220020046b2209410172360204238280808000220b41b09a8480006a2204200b41889e8480006a28021036021c2004200936020c20042006360218200720006a41383602040c020b200620074f0d0020062000490d00200428020c4108710d002006417820066b410f7122076a2202238280808000220841b09a8480006a220028020c200b6a220a20076b220741017236020420042009200b6a3602042000200841889e8480006a28021036021c200020023602182000200736020c2006200a6a41383602040c010b0240200723828080800041b09a8480006a2802104f0d0023828080800041b09a8480006a20073602100b2007200b6a210023828080800041b09a8480006a41c0036a2104024002400340200428020022092000460d01200428020822040d000c020b0b20042d000c410871450d030b23828080800041b09a8480006a41c0036a2104024003400240200620042802002200490d002006200020042802046a2200490d020b200428020821040c000b0b2007417820076b410f7122046a2202200b41486a220920046b2208410172360204200720096a413836020420062000413720006b410f716a41416a22042004200641106a491b22094123360204238280808000220a41b09a8480006a2204200a41889e8480006a28021036021c2004200836020c20042002360218200941106a200441c8036a2202290200370200200920042902c003370208200420073602c003200441003602cc032002200941086a3602002004200b3602c403200941246a2104034020044107360200200441046a22042000490d000b20092006460d0020092009280204417e713602042009200920066b22073602002006200741017236020402400240200741ff014b0d0023828080800041b09a8480006a220020074178716a41286a2104024002402000280200220041012007410376742209710d0023828080800041b09a8480006a2000200972360200200421000c010b200428020821000b2000200636020c20042006360208410c2109410821070c010b411f21040240200741ffffff074b0d002007412620074108766722046b7641017120044101746b413e6a21040b2006200436021c2006420037021023828080800041b09a8480006a220920044102746a41b0026a2100024002400240200928020422094101200474220b710d002000200636020023828080800041b09a8480006a2009200b72360204200620003602180c010b20074100411920044101766b2004411f461b742104200028020021090340200922002802044178712007460d022004411d76210920044101742104200020094104716a220b28021022090d000b200b41106a2006360200200620003602180b41082109410c210720062100200621040c010b20002802082104200020063602082004200636020c200620043602084100210441182109410c21070b200620076a2000360200200620096a20043602000b23828080800041b09a8480006a28020c220420034d0d0023828080800041b09a8480006a2205280218220620036a2200200420036b22044101723602042005200436020c2005200036021820062003410372360204200641086a21050c040b238e8080800041303602000c030b2004200736020020042004280204200b6a36020420072009200310c08180800021050c020b0240200b450d0002400240200923828080800041b09a8480006a200928021c22004102746a22062802b002470d00200641b0026a200536020020050d0123828080800041b09a8480006a200a417e20007771220a3602040c020b02400240200b2802102009470d00200b20053602100c010b200b20053602140b2005450d010b2005200b360218024020092802102206450d0020052006360210200620053602180b20092802142206450d0020052006360214200620053602180b024002402004410f4b0d00200920042003722205410372360204200920056a220520052802044101723602040c010b200920036a2200200441017236020420092003410372360204200020046a20043602000240200441ff014b0d0023828080800041b09a8480006a220320044178716a41286a2105024002402003280200220341012004410376742204710d0023828080800041b09a8480006a2003200472360200200521040c010b200528020821040b2004200036020c200520003602082000200536020c200020043602080c010b411f21050240200441ffffff074b0d002004412620044108766722056b7641017120054101746b413e6a21050b2000200536021c2000420037021023828080800041b09a8480006a20054102746a41b0026a21030240200a41012005742206710d002003200036020023828080800041b09a8480006a200a20067236020420002003360218200020003602082000200036020c0c010b20044100411920054101766b2005411f461b7421052003280200210602400340200622032802044178712004460d012005411d76210620054101742105200320064104716a220728021022060d000b200741106a2000360200200020033602182000200036020c200020003602080c010b20032802082205200036020c20032000360208200041003602182000200336020c200020053602080b200941086a21050c010b02402002450d0002400240200023828080800041b09a8480006a200028021c22094102746a22062802b002470d00200641b0026a200536020020050d0123828080800041b09a8480006a200a417e200977713602040c020b0240024020022802102000470d00200220053602100c010b200220053602140b2005450d010b20052002360218024020002802102206450d0020052006360210200620053602180b20002802142206450d0020052006360214200620053602180b024002402004410f4b0d00200020042003722205410372360204200020056a220520052802044101723602040c010b200020036a2206200441017236020420002003410372360204200620046a200436020002402008450d0023828080800041b09a8480006a220520084178716a41286a21032005280214210502400240410120084103767422092007710d0023828080800041b09a8480006a2009200772360200200321090c010b200328020821090b2009200536020c200320053602082005200336020c200520093602080b23828080800041b09a8480006a22052006360214200520043602080b200041086a21050b200141106a24808080800020050bec0801077f2000417820006b410f716a220320024103723602042001417820016b410f716a2204200320026a22056b210002400240200423828080800041b09a8480006a280218470d0023828080800041b09a8480006a220220053602182002200228020c20006a220036020c200520004101723602040c010b0240200423828080800041b09a8480006a280214470d0023828080800041b09a8480006a220120053602142001200128020820006a220236020820052002410172360204200520026a20023602000c010b0240200428020422014103714101470d0020014178712106200428020c210202400240200141ff014b0d000240200220042802082207470d0023828080800041b09a8480006a22022002280200417e200141037677713602000c020b200220073602082007200236020c0c010b200428021821080240024020022004460d0020042802082201200236020c200220013602080c010b02400240024020042802142201450d00200441146a21070c010b20042802102201450d01200441106a21070b0340200721092001220241146a2107200228021422010d00200241106a2107200228021022010d000b200941003602000c010b410021020b2008450d0002400240200423828080800041b09a8480006a200428021c22074102746a22012802b002470d00200141b0026a200236020020020d0123828080800041b09a8480006a22022002280204417e200777713602040c020b0240024020082802102004470d00200820023602100c010b200820023602140b2002450d010b20022008360218024020042802102201450d0020022001360210200120023602180b20042802142201450d0020022001360214200120023602180b200620006a2100200420066a220428020421010b20042001417e71360204200520006a2000360200200520004101723602040240200041ff014b0d0023828080800041b09a8480006a220120004178716a41286a2102024002402001280200220141012000410376742200710d0023828080800041b09a8480006a2001200072360200200221000c010b200228020821000b2000200536020c200220053602082005200236020c200520003602080c010b411f21020240200041ffffff074b0d002000412620004108766722026b7641017120024101746b413e6a21020b2005200236021c2005420037021023828080800041b09a8480006a220720024102746a41b0026a210102402007280204220741012002742204710d002001200536020023828080800041b09a8480006a200720047236020420052001360218200520053602082005200536020c0c010b20004100411920024101766b2002411f461b7421022001280200210702400340200722012802044178712000460d012002411d76210720024101742102200120074104716a220428021022070d000b200441106a2005360200200520013602182005200536020c200520053602080c010b20012802082202200536020c20012005360208200541003602182005200136020c200520023602080b200341086a0b0a00200010c2818080000b820e01087f02402000450d00200041786a22012000417c6a280200220241787122006a21032382808080002104024020024101710d002002410271450d012001200128020022056b2201200441b09a8480006a280210490d01200520006a21000240024002400240200123828080800041b09a8480006a280214460d00200128020c21020240200541ff014b0d00200220012802082204470d0223828080800041b09a8480006a22022002280200417e200541037677713602000c050b20012802182106024020022001460d0020012802082204200236020c200220043602080c040b0240024020012802142204450d00200141146a21050c010b20012802102204450d03200141106a21050b0340200521072004220241146a2105200228021422040d00200241106a2105200228021022040d000b200741003602000c030b200328020422024103714103470d0320032002417e713602042003200036020023828080800041b09a8480006a2000360208200120004101723602040f0b200220043602082004200236020c0c020b410021020b2006450d0002400240200123828080800041b09a8480006a200128021c22054102746a22042802b002470d00200441b0026a200236020020020d0123828080800041b09a8480006a22022002280204417e200577713602040c020b0240024020062802102001470d00200620023602100c010b200620023602140b2002450d010b20022006360218024020012802102204450d0020022004360210200420023602180b20012802142204450d0020022004360214200420023602180b200120034f0d0020032802042204410171450d000240024002400240024020044102710d000240200323828080800041b09a8480006a280218470d0023828080800041b09a8480006a220220013602182002200228020c20006a220036020c2001200041017236020420012002280214470d0623828080800041b09a8480006a22014100360208200141003602140f0b0240200323828080800041b09a8480006a2802142206470d0023828080800041b09a8480006a220220013602142002200228020820006a220036020820012000410172360204200120006a20003602000f0b200441787120006a2100200328020c21020240200441ff014b0d000240200220032802082205470d0023828080800041b09a8480006a22022002280200417e200441037677713602000c050b200220053602082005200236020c0c040b20032802182108024020022003460d0020032802082204200236020c200220043602080c030b0240024020032802142204450d00200341146a21050c010b20032802102204450d02200341106a21050b0340200521072004220241146a2105200228021422040d00200241106a2105200228021022040d000b200741003602000c020b20032004417e71360204200120006a2000360200200120004101723602040c030b410021020b2008450d0002400240200323828080800041b09a8480006a200328021c22054102746a22042802b002470d00200441b0026a200236020020020d0123828080800041b09a8480006a22022002280204417e200577713602040c020b0240024020082802102003470d00200820023602100c010b200820023602140b2002450d010b20022008360218024020032802102204450d0020022004360210200420023602180b20032802142204450d0020022004360214200420023602180b200120006a20003602002001200041017236020420012006470d0023828080800041b09a8480006a20003602080f0b0240200041ff014b0d0023828080800041b09a8480006a220420004178716a41286a2102024002402004280200220441012000410376742200710d0023828080800041b09a8480006a2004200072360200200221000c010b200228020821000b2000200136020c200220013602082001200236020c200120003602080f0b411f21020240200041ffffff074b0d002000412620004108766722026b7641017120024101746b413e6a21020b2001200236021c2001420037021023828080800041b09a8480006a220420024102746a41b0026a210502400240024002402004280204220441012002742203710d002005200136020023828080800041b09a8480006a200420037236020441082100411821020c010b20004100411920024101766b2002411f461b742102200528020021050340200522042802044178712000460d022002411d76210520024101742102200420054104716a220328021022050d000b200341106a20013602004108210041182102200421050b20012104200121030c010b20042802082205200136020c200420013602084100210341182100410821020b200120026a20053602002001200436020c200120006a200336020023828080800041b09a8480006a22012001280220417f6a2201417f20011b3602200b0b6c02017f017e0240024020000d00410021020c010b2000ad2001ad7e2203a72102200120007241808004490d00417f20022003422088a74100471b21020b0240200210bf818080002200450d002000417c6a2d0000410371450d002002450d00200041002002fc0b000b20000b9f09010b7f024020000d00200110bf818080000f0b024020014140490d00238e80808000413036020041000f0b4110200141136a4170712001410b491b21022000417c6a22032802002204417871210502400240024020044103710d002002418002490d01200520024d0d01200520026b23828080800041889e8480006a2802084101744d0d020c010b200041786a220620056a2107024020052002490d00200520026b22014110490d0220032002200441017172410272360200200620026a22022001410372360204200720072802044101723602042002200110c58180800020000f0b200728020421080240200723828080800041b09a8480006a280218470d0023828080800041b09a8480006a28020c20056a220520024d0d012003200220044101717241027236020023828080800041b09a8480006a2201200620026a22043602182001200520026b220236020c2004200241017236020420000f0b0240200723828080800041b09a8480006a280214470d0023828080800041b09a8480006a28020820056a22052002490d0102400240200520026b22014110490d0020032002200441017172410272360200200620026a22022001410172360204200620056a2205200136020020052005280204417e713602040c010b20032004410171200572410272360200200620056a2201200128020441017236020441002101410021020b23828080800041b09a8480006a220520023602142005200136020820000f0b20084102710d00200841787120056a22092002490d00200920026b210a200728020c210102400240200841ff014b0d000240200120072802082205470d0023828080800041b09a8480006a22012001280200417e200841037677713602000c020b200120053602082005200136020c0c010b2007280218210b0240024020012007460d0020072802082205200136020c200120053602080c010b02400240024020072802142205450d00200741146a21080c010b20072802102205450d01200741106a21080b03402008210c2005220141146a2108200128021422050d00200141106a2108200128021022050d000b200c41003602000c010b410021010b200b450d0002400240200723828080800041b09a8480006a200728021c22084102746a22052802b002470d00200541b0026a200136020020010d0123828080800041b09a8480006a22012001280204417e200877713602040c020b02400240200b2802102007470d00200b20013602100c010b200b20013602140b2001450d010b2001200b360218024020072802102205450d0020012005360210200520013602180b20072802142205450d0020012005360214200520013602180b0240200a410f4b0d0020032004410171200972410272360200200620096a2201200128020441017236020420000f0b20032002200441017172410272360200200620026a2201200a410372360204200620096a220220022802044101723602042001200a10c58180800020000f0b0240200110bf8180800022020d0041000f0b0240417c4178200328020022054103711b20054178716a2205200120052001491b2201450d00200220002001fc0a00000b200010c281808000200221000b20000b9b0d01077f200020016a210202400240200028020422034101710d002003410271450d012000280200220420016a21010240024002400240200020046b220023828080800041b09a8480006a280214460d00200028020c21030240200441ff014b0d00200320002802082205470d0223828080800041b09a8480006a22032003280200417e200441037677713602000c050b20002802182106024020032000460d0020002802082204200336020c200320043602080c040b0240024020002802142204450d00200041146a21050c010b20002802102204450d03200041106a21050b0340200521072004220341146a2105200328021422040d00200341106a2105200328021022040d000b200741003602000c030b200228020422034103714103470d0320022003417e713602042002200136020023828080800041b09a8480006a2001360208200020014101723602040f0b200320053602082005200336020c0c020b410021030b2006450d0002400240200023828080800041b09a8480006a200028021c22054102746a22042802b002470d00200441b0026a200336020020030d0123828080800041b09a8480006a22032003280204417e200577713602040c020b0240024020062802102000470d00200620033602100c010b200620033602140b2003450d010b20032006360218024020002802102204450d0020032004360210200420033602180b20002802142204450d0020032004360214200420033602180b02400240024002400240200228020422044102710d000240200223828080800041b09a8480006a280218470d0023828080800041b09a8480006a220320003602182003200328020c20016a220136020c2000200141017236020420002003280214470d0623828080800041b09a8480006a22004100360208200041003602140f0b0240200223828080800041b09a8480006a2802142206470d0023828080800041b09a8480006a220320003602142003200328020820016a220136020820002001410172360204200020016a20013602000f0b200441787120016a2101200228020c21030240200441ff014b0d000240200320022802082205470d0023828080800041b09a8480006a22032003280200417e200441037677713602000c050b200320053602082005200336020c0c040b20022802182108024020032002460d0020022802082204200336020c200320043602080c030b0240024020022802142204450d00200241146a21050c010b20022802102204450d02200241106a21050b0340200521072004220341146a2105200328021422040d00200341106a2105200328021022040d000b200741003602000c020b20022004417e71360204200020016a2001360200200020014101723602040c030b410021030b2008450d0002400240200223828080800041b09a8480006a200228021c22054102746a22042802b002470d00200441b0026a200336020020030d0123828080800041b09a8480006a22032003280204417e200577713602040c020b0240024020082802102002470d00200820033602100c010b200820033602140b2003450d010b20032008360218024020022802102204450d0020032004360210200420033602180b20022802142204450d0020032004360214200420033602180b200020016a20013602002000200141017236020420002006470d0023828080800041b09a8480006a20013602080f0b0240200141ff014b0d0023828080800041b09a8480006a220420014178716a41286a2103024002402004280200220441012001410376742201710d0023828080800041b09a8480006a2004200172360200200321010c010b200328020821010b2001200036020c200320003602082000200336020c200020013602080f0b411f21030240200141ffffff074b0d002001412620014108766722036b7641017120034101746b413e6a21030b2000200336021c2000420037021023828080800041b09a8480006a220520034102746a41b0026a210402402005280204220541012003742202710d002004200036020023828080800041b09a8480006a200520027236020420002004360218200020003602082000200036020c0f0b20014100411920034101766b2003411f461b7421032004280200210502400340200522042802044178712001460d012003411d76210520034101742103200420054104716a220228021022050d000b200241106a2000360200200020043602182000200036020c200020003602080f0b20042802082201200036020c20042000360208200041003602182000200436020c200020013602080b0b7c01027f02400240024020014110470d00200210bf8180800021010c010b411c210320014104490d0120014103710d01200141027622042004417f6a710d0102402002414020016b4d0d0041300f0b20014110200141104b1b200210c78180800021010b024020010d0041300f0b20002001360200410021030b20030bad0301057f0240024020004110200041104b1b22022002417f6a710d00200221000c010b41202103034020032200410174210320002002490d000b0b02402001414020006b490d00238e80808000413036020041000f0b024020004110200141136a4170712001410b491b22016a410c6a10bf8180800022030d0041000f0b200341786a2102024002402000417f6a2003710d00200221000c010b2003417c6a22042802002205417871200320006a417f6a410020006b7141786a220341002000200320026b410f4b1b6a220020026b22036b2106024020054103710d00200020063602042000200228020020036a3602000c010b20002006200028020441017172410272360204200020066a2206200628020441017236020420042003200428020041017172410272360200200220036a220620062802044101723602042002200310c5818080000b024020002802042203410371450d0020034178712202200141106a4d0d0020002001200341017172410272360204200020016a2203200220016b2201410372360204200020026a220220022802044101723602042003200110c5818080000b200041086a0b02000b2001017f024020002802002201450d0020002802042001410110a6808080000b0b9f0101017f23808080800041106b22032480808080000240200220016a220120024f0d004100410010cb81808000000b200341046a200028020022022000280204200120024101742202200120024b1b22024108200241084b1b220210cc81808000024020032802044101470d002003280208200328020c10cb81808000000b200328020821012000200236020020002001360204200341106a2480808080000b1c0002402000450d002000200110cd81808000000b10cf81808000000b90010002400240200341004e0d004101210141042102410021030c010b02400240024002402001450d00200220014101200310a78080800021010c010b024020030d00410121010c020b10a8808080002003410110a58080800021010b20010d0041012101200041013602040c010b20002001360204410021010b410821020b200020026a2003360200200020013602000b0d002001200010d580808000000be50101047f23808080800041106b22022480808080000240024002402001280200220320012802082204470d00200241046a20042001280204200441016a220310cc8180800020022802044101460d01200120022802083602040b2001280204220520046a41003a0000024002402003200441016a22014b0d00200521040c010b024020010d004101210420052003410110a6808080000c010b200520034101200110a7808080002204450d020b2000200136020420002004360200200241106a2480808080000f0b2002280208200228020c10cb81808000000b4101200110cb81808000000b2501017f238280808000220041fc8f8480006a4123200041bc988480006a10d981808000000bbb0301067f23808080800041106b220324808080800002400240024002400240024002402002410171450d00200241017621040c010b20012d00002204450d014100210520012106410021070340200641016a2106024002402004c0417f4a0d000240200441ff0171418001470d00200520062f000022046a2105200620046a41026a21060c020b20062004410371410878220841057441808080800471200841077472411d766a20044101764102716a20044102764102716a210620054520077221070c010b2006200441ff017122046a2106200520046a21050b20062d000022040d000b4100210420072005411049710d0041002107200541017422044100480d040b20040d010b41012106410021040c010b10a880808000410121072004410110a5808080002206450d010b200341003602082003200636020420032004360200200323828080800041cc988480006a2001200210dc81808000450d012382808080002204418d908480006a41d6002003410f6a200441e4988480006a200441f4988480006a10e481808000000b2007200410cb81808000000b2000200328020836020820002003290200370200200341106a2480808080000b6801027f024002400240200128020822020d00410121010c010b2001280204210310a8808080002002410110a5808080002201450d012002450d00200120032002fc0a00000b2000200236020820002001360204200020023602000f0b4101200210cb81808000000b1900200123828080800041e3908480006a410510e2818080000ba50201067f200028020821020240024020014180014f0d00410121030c010b024020014180104f0d00410221030c010b41034104200141808004491b21030b2002210402402003200028020020026b4d0d0020002002200310ca81808000200028020821040b200028020420046a2104024002402001418001490d002001413f7141807f72210520014106762106024020014180104f0d00200420053a00012004200641c001723a00000c020b2001410c7621072006413f7141807f7221060240200141ffff034b0d00200420053a0002200420063a00012004200741e001723a00000c020b200420053a0003200420063a000220042007413f7141807f723a0001200420014112764170723a00000c010b200420013a00000b2000200320026a36020841000b5a01017f02400240024020022000280200200028020822036b4d0d0020002003200210ca81808000200028020821030c010b2002450d010b2002450d00200028020420036a20012002fc0a00000b2000200320026a36020841000bb40301057f23808080800041206b220324808080800041002104024002400240200241016a22054100480d0010a880808000410121042005410110a5808080002206450d00024020020d0041002107410021040c030b02402002450d00200620012002fc0a00000b024020024108490d00200341086a41002001200210e781808000200328020c2107200328020821040c030b024020012d00000d0041012104410021070c030b4101210420024101460d01024020012d00010d00410121070c030b4102210720024102460d0120012d0002450d024103210720024103460d0120012d0003450d024104210720024104460d0120012d0004450d024105210720024105460d0120012d0005450d02200221074100210420024106460d022002410620012d000622041b210720044521040c020b2004200510cb81808000000b20022107410021040b0240024020044101470d002000200236020820002006360204200020053602002000200736020c0c010b2003200236021c20032006360218200320053602142003200341146a10ce818080002000200329030037020420004180808080783602000b200341206a2480808080000b1b00200023828080800041cc988480006a2001200210dc818080000bd70202017f017e23808080800041c0006b220824808080800020082002360204200820013602002008200436020c200820033602082008238280808000220241c4928480006a200041ff017141027422016a280200360214200820024184998480006a20016a28020036021002402005450d002008200636021c200820053602182008239380808000ad422086200841186aad843703282008238480808000220541c3808080006aad4220862209200841086aad84370338200820092008ad843703302008200541c4808080006aad422086200841106aad84370320238280808000418f828480006a200841206a200710d981808000000b2008238480808000220541c3808080006aad4220862209200841086aad84370330200820092008ad843703282008200541c4808080006aad422086200841106aad8437032023828080800041d8818480006a200841206a200710d981808000000be90202017f017e23808080800041206b2204248080808000024002400240200020024b0d00200120024b0d01238380808000ad4220862105200020014d0d02200420003602082004200136020c200420052004410c6aad8437031820042005200441086aad8437031023828080800041c0808480006a200441106a200310d981808000000b200420003602082004200236020c2004238380808000ad42208622052004410c6aad8437031820042005200441086aad8437031023828080800041e8808480006a200441106a200310d981808000000b200420013602082004200236020c2004238380808000ad42208622052004410c6aad8437031820042005200441086aad8437031023828080800041a1818480006a200441106a200310d981808000000b200420013602082004200236020c200420052004410c6aad8437031820042005200441086aad8437031023828080800041a1818480006a200441106a200310d981808000000b4701017f23808080800041206b2203248080808000200320013602102003200036020c200341013b011c2003200236021820032003410c6a360214200341146a10d480808000000be70205027f027e017f017e027f23808080800041206b2202248080808000411421032000290300220421050240200442e807540d00411421032004210503402002410c6a20036a2200417c6a23828080800041f3908480006a22062005220720074290ce008022054290ce007e7da7220841ffff037141e4006e22094101746a2f00003b00002000417e6a20062008200941e4006c6b41ffff03714101746a2f00003b00002003417c6a2103200742fface204560d000b0b024020054209580d002002410c6a2003417e6a22036a23828080800041f3908480006a2005a72200200041ffff037141e4006e220041e4006c6b41ffff03714101746a2f00003b00002000ad21050b024002402004500d002005500d010b2002410c6a2003417f6a22036a23828080800041f3908480006a2005a74101746a2d00013a00000b20014101410141002002410c6a20036a411420036b10de818080002103200241206a24808080800020030b140020012000280200200028020410e1818080000bf40401087f23808080800041106b220424808080800002400240024020034101710d0020022d000022050d01410021050c020b200020022003410176200128020c118380808000808080800021050c010b200128020c2106410021070340200241016a2108024002400240024002402005c0417f4a0d00200541ff01712209418001460d01200941c001470d032004200136020420042000360200200442a080808006370208200320074103746a2205280200200420052802041184808080008080808000450d02410121050c060b024020002008200541ff01712205200611838080800080808080000d00200820056a21020c040b410121050c050b02402000200241036a220520022f00012202200611838080800080808080000d00200520026a21020c030b410121050c040b200741016a2107200821020c010b41a080808006210a02402005410171450d00200241056a21082002280001210a0b410021090240024020054102710d004100210b200821020c010b200841026a210220082f0000210b0b0240024020054104710d00200221080c010b200241026a210820022f000021090b0240024020054108710d00200821020c010b200841026a210220082f000021070b02402005411071450d002003200b41ffff03714103746a2f0104210b0b02402005412071450d002003200941ffff03714103746a2f010421090b200420093b010e2004200b3b010c2004200a36020820042001360204200420003602000240200320074103746a2205280200200420052802041184808080008080808000450d00410121050c030b200741016a21070b20022d000022050d000b410021050b200441106a24808080800020050baa0301047f0240024002400240024002400240200241074b0d002002450d0520012d00000d01410021030c060b200141036a417c7122042001460d01200420016b2104410021030340200120036a2d0000450d062004200341016a2203470d000b2004200241786a22054b0d030c020b4101210320024101460d0320012d0001450d044102210320024102460d0320012d0002450d044103210320024103460d0320012d0003450d044104210320024104460d0320012d0004450d044105210320024105460d0320012d0005450d044106210320024106460d0320012d00060d030c040b200241786a2105410021040b03404180828408200120046a220328020022066b2006724180828408200341046a28020022036b2003727141808182847871418081828478470d01200441086a220420054d0d000b0b20022004460d0003400240200120046a2d00000d00200421030c030b2002200441016a2204470d000b0b20004101360204200041013602000f0b0240200341016a2002460d002000200336020820004100360204200041013602000f0b2000200236020820002001360204200041003602000b9c0602087f017e412b418080c4002000280208220641808080017122071b21082007411576410120011b20056a21090240024020064180808004710d00410021020c010b0240024020034110490d002002200310df8180800021070c010b024020030d00410021070c010b2003410371210a4100210b41002107024020034104490d002003410c71210c4100210b41002107034020072002200b6a220d2c000041bf7f4a6a200d41016a2c000041bf7f4a6a200d41026a2c000041bf7f4a6a200d41036a2c000041bf7f4a6a2107200c200b41046a220b470d000b200a450d010b2002200b6a210d03402007200d2c000041bf7f4a6a2107200d41016a210d200a417f6a220a0d000b0b200720096a21090b2008412d20011b210c02400240200920002f010c22014f0d0002400240024020064180808008710d00200120096b210841002107410021010240024002402006411d764103710e0402000100020b200821010c010b200841feff037141017621010b200641ffffff007121092000280204210b2000280200210a0340200741ffff0371200141ffff03714f0d024101210d200741016a2107200a2009200b2802101184808080008080808000450d000c050b0b20002000290208220ea741808080ff797141b080808002723602084101210d2000280200220a2000280204220b200c2002200310e0818080000d0341002107200120096b41ffff037121020340200741ffff037120024f0d024101210d200741016a2107200a4130200b2802101184808080008080808000450d000c040b0b4101210d200a200b200c2002200310e0818080000d02200a20042005200b28020c11838080800080808080000d0241002107200820016b41ffff037121000340200741ffff03712202200049210d200220004f0d03200741016a2107200a2009200b2802101184808080008080808000450d000c030b0b4101210d200a20042005200b28020c11838080800080808080000d012000200e37020841000f0b4101210d200028020022072000280204220a200c2002200310e0818080000d00200720042005200a28020c1183808080008080808000210d0b200d0beb0601087f024002402001200041036a417c71220220006b2203490d00200120036b22044102762205450d00200441037121064100210741002101024020022000460d0041002108410021010240200020026b2209417c4b0d00410021084100210103402001200020086a22022c000041bf7f4a6a200241016a2c000041bf7f4a6a200241026a2c000041bf7f4a6a200241036a2c000041bf7f4a6a2101200841046a22080d000b0b200020086a21020340200120022c000041bf7f4a6a2101200241016a2102200941016a22090d000b0b200020036a210902402006450d002009200441fcffffff07716a22022c000041bf7f4a210720064101460d00200720022c000141bf7f4a6a210720064102460d00200720022c000241bf7f4a6a21070b200720016a21080340200921032005450d02200541c001200541c001491b22074103712106024002402007410274220441f0077122010d00410021020c010b200320016a2100410021022003210103402001410c6a2802002209417f73410776200941067672418182840871200141086a2802002209417f73410776200941067672418182840871200141046a2802002209417f7341077620094106767241818284087120012802002209417f7341077620094106767241818284087120026a6a6a6a2102200141106a22012000470d000b0b200520076b2105200320046a2109200241087641ff81fc0771200241ff81fc07716a418180046c41107620086a21082006450d000b2003200741fc01714102746a22022802002201417f734107762001410676724181828408712101024020064101460d0020022802042209417f7341077620094106767241818284087120016a210120064102460d0020022802082202417f7341077620024106767241818284087120016a21010b200141087641ff811c71200141ff81fc07716a418180046c41107620086a21080c010b024020010d0041000f0b200141037121024100210941002108024020014104490d002001417c712105410021084100210903402008200020096a22012c000041bf7f4a6a200141016a2c000041bf7f4a6a200141026a2c000041bf7f4a6a200141036a2c000041bf7f4a6a21082005200941046a2209470d000b2002450d010b200020096a21010340200820012c000041bf7f4a6a2108200141016a21012002417f6a22020d000b0b20080b490002402002418080c400460d002000200220012802101184808080008080808000450d0041010f0b024020030d0041000f0b200020032004200128020c11838080800080808080000b9e0501077f024002402000280208220341808080c00171450d0002400240024002400240200341808080800171450d0020002f010e22040d01410021020c020b024020024110490d002001200210df8180800021050c040b024020020d00410021050c040b200241037121064100210741002105024020024104490d002002410c712104410021054100210703402005200120076a22082c000041bf7f4a6a200841016a2c000041bf7f4a6a200841026a2c000041bf7f4a6a200841036a2c000041bf7f4a6a21052004200741046a2207470d000b2006450d040b200120076a21080340200520082c000041bf7f4a6a2105200841016a21082006417f6a22060d000c040b0b200120026a21074100210220012108200421060340200822052007460d020240024020052c00002208417f4c0d00200541016a21080c010b0240200841604f0d00200541026a21080c010b2005410441032008416f4b1b6a21080b200820056b20026a21022006417f6a22060d000b0b410021060b200420066b21050b200520002f010c22084f0d00200820056b210941002105410021040240024002402003411d764103710e0402000102020b200921040c010b200941feff037141017621040b200341ffffff00712107200028020421062000280200210002400340200541ffff0371200441ffff03714f0d0141012108200541016a210520002007200628021011848080800080808080000d030c000b0b41012108200020012002200628020c11838080800080808080000d0141002105200920046b41ffff037121020340200541ffff037122042002492108200420024f0d02200541016a210520002007200628021011848080800080808080000d020c000b0b200028020020012002200028020428020c118380808000808080800021080b20080b1e00200028020020012002200028020428020c11838080800080808080000bde0201087f23808080800041106b2202248080808000410a21032000280200220421050240200441e807490d00410a2103200421050340200241066a20036a2206417c6a23828080800041f3908480006a22072005220020004190ce006e22054190ce006c6b220841ffff037141e4006e22094101746a2f00003b00002006417e6a20072008200941e4006c6b41ffff03714101746a2f00003b00002003417c6a2103200041fface2044b0d000b0b02400240200541094b0d00200521000c010b200241066a2003417e6a22036a23828080800041f3908480006a2005200541ffff037141e4006e220041e4006c6b41ffff03714101746a2f00003b00000b024002402004450d002000450d010b200241066a2003417f6a22036a23828080800041f3908480006a20004101746a2d00013a00000b2001410141014100200241066a20036a410a20036b10de818080002103200241106a24808080800020030b810101017f23808080800041206b220524808080800020052001360204200520003602002005200336020c200520023602082005238480808000220141c3808080006aad422086200541086aad843703182005200141c4808080006aad4220862005ad8437031023828080800041ca828480006a200541106a200410d981808000000b1c0020002802002001200028020428020c11848080800080808080000b1c00200128020020012802042000280200200028020410dc818080000ba60201057f0240024002400240200241036a417c7122042002470d00200341786a2105410021040c010b2003200420026b220420032004491b210402402003450d0041002106200141ff01712107410121080340200220066a2d00002007460d042004200641016a2206470d000b0b2004200341786a22054b0d010b200141ff017141818284086c210603404180828408200220046a220728020020067322086b2008724180828408200741046a28020020067322076b2007727141808182847871418081828478470d01200441086a220420054d0d000b0b024020032004460d00200141ff017121064101210803400240200220046a2d00002006470d00200421060c030b2003200441016a2204470d000b0b410021080b20002006360204200020083602000b3b00024020002d00000d00200123828080800041bb928480006a410510e1818080000f0b200123828080800041c0928480006a410410e1818080000b0e0020022000200110e1818080000b0ba1190200418080040bd0126465706172746d656e746d616e616765727375626a656374726f6c65736469726563746f7279312e302e306e6f206d657373616765c0c000c0013ac0013ac00016736c69636520696e6465782073746172747320617420c00d2062757420656e647320617420c0001272616e676520737461727420696e64657820c022206f7574206f662072616e676520666f7220736c696365206f66206c656e67746820c0001072616e676520656e6420696e64657820c022206f7574206f662072616e676520666f7220736c696365206f66206c656e67746820c00010617373657274696f6e20606c65667420c01720726967687460206661696c65640a20206c6566743a20c0090a2072696768743a20c00010617373657274696f6e20606c65667420c01020726967687460206661696c65643a20c0090a20206c6566743a20c0090a2072696768743a20c000c0023a20c0002f72757374632f353938303736313665316661323534303732346266626163313464373937366437653461333836302f6c6962726172792f616c6c6f632f7372632f666d742e7273002f72757374632f353938303736313665316661323534303732346266626163313464373937366437653461333836302f6c6962726172792f7374642f7372632f7379732f73796e632f6d757465782f6e6f5f746872656164732e7273002f72757374632f353938303736313665316661323534303732346266626163313464373937366437653461333836302f6c6962726172792f7374642f7372632f70616e69636b696e672e7273002f72757374632f353938303736313665316661323534303732346266626163313464373937366437653461333836302f6c6962726172792f7374642f7372632f696f2f6d6f642e7273002f72757374632f353938303736313665316661323534303732346266626163313464373937366437653461333836302f6c6962726172792f616c6c6f632f7372632f7261775f7665632f6d6f642e7273002f72757374632f353938303736313665316661323534303732346266626163313464373937366437653461333836302f6c6962726172792f7374642f7372632f7468726561642f69642e7273002f72757374632f353938303736313665316661323534303732346266626163313464373937366437653461333836302f6c6962726172792f7374642f7372632f7379732f696f2f696f5f736c6963652f696f7665632e7273002f00022028c0013ac0012900156d656d6f727920616c6c6f636174696f6e206f6620c047206279746573206661696c65640a736b697070696e67206261636b7472616365207072696e74696e6720746f2061766f696420706f74656e7469616c20726563757273696f6e0a0035666174616c2072756e74696d65206572726f723a206661696c656420746f20696e6974696174652070616e69632c206572726f7220c00b2c2061626f7274696e670a00156d656d6f727920616c6c6f636174696f6e206f6620c00e206279746573206661696c65640a000c70616e69636b656420617420c0023a0ac0330a7468726561642070616e69636b6564207768696c652070726f63657373696e672070616e69632e2061626f7274696e672e0a00090a7468726561642027c003272028c00e292070616e69636b656420617420c0023a0ac0010a001961626f7274696e672064756520746f2070616e696320617420c0023a0ac0010a006120666f726d617474696e6720747261697420696d706c656d656e746174696f6e2072657475726e656420616e206572726f72207768656e2074686520756e6465726c79696e672073747265616d20646964206e6f7466696c65206e616d6520636f6e7461696e656420616e20756e6578706563746564204e554c20627974656d61696e3c756e6e616d65643e6e6f74653a2072756e20776974682060525553545f4241434b54524143453d316020656e7669726f6e6d656e74207661726961626c6520746f20646973706c61792061206261636b74726163650a00006d5dcbd62c50eb637841a657711b8bb9f54070e8e52abb13e7714aae2ce80019666174616c2072756e74696d65206572726f723a2072776c6f636b206c6f636b656420666f722077726974696e672c2061626f7274696e670a666174616c2072756e74696d65206572726f723a2072776c6f636b206c6f636b656420666f722072656164696e672c2061626f7274696e670a525553545f4241434b545241434563616e6e6f74207265637572736976656c792061637175697265206d75746578616476616e63696e6720696f20736c69636573206265796f6e64207468656972206c656e677468616476616e63696e6720496f536c696365206265796f6e6420697473206c656e67746800426f783c64796e20416e793e74687265616420636175736564206e6f6e2d756e77696e64696e672070616e69632e2061626f7274696e672e0a63616e6e6f74206d6f64696679207468652070616e696320686f6f6b2066726f6d20612070616e69636b696e67207468726561646661696c656420746f2077726974652077686f6c6520627566666572737461636b206261636b74726163653a0a6e6f74653a20536f6d652064657461696c7320617265206f6d69747465642c2072756e20776974682060525553545f4241434b54524143453d66756c6c6020666f72206120766572626f7365206261636b74726163652e0a6661696c656420746f2067656e657261746520756e69717565207468726561642049443a206269747370616365206578686175737465646361706163697479206f766572666c6f776120666f726d617474696e6720747261697420696d706c656d656e746174696f6e2072657475726e656420616e206572726f72207768656e2074686520756e6465726c79696e672073747265616d20646964206e6f744572726f723d3d213d6d617463686573303030313032303330343035303630373038303931303131313231333134313531363137313831393230323132323233323432353236323732383239333033313332333333343335333633373338333934303431343234333434343534363437343834393530353135323533353435353536353735383539363036313632363336343635363636373638363937303731373237333734373537363737373837393830383138323833383438353836383738383839393039313932393339343935393639373938393966616c7365747275650200000002000000070000000041d092040bc00604000000000000000000000001000000050000000600000006000000040000000400000004000000040000000e0000000000000004000000040000000f000000100000000c0000000400000011000000120000001300000043020100490000008802000011000000100000000c00000004000000140000001500000016000000100000000c00000004000000170000001800000019000000410501002a000000140000000000000002000000e8090100f60101004c000000160100002e0000001a0000000c000000040000001b0000001c0000001d0000000000000008000000040000001e0000001f000000200000002100000022000000100000000400000023000000240000002500000026000000990101005c000000130000000900000043020100490000005a0600000d0000002b030100580000001f0000000d00000043020100490000005806000020000000010000000000000000000000010000002700000028000000290000002a0000002b0000002c0000000c0000002d0000000c000000040000002e0000002f0000003000000031000000320000003300000034000000f60101004c0000009000000009000000400701001c0000001700000002000000040b0100de0201004c000000260000000d000000000000000800000004000000350000001a0000000c00000004000000360000004302010049000000590700002400000037000000370000003700000037000000370000003700000037000000370000003700000037000000370000003700000037000000370000003700000037000000370000003700000037000000370000003700000037000000370000003700000037000000370000003700000037000000370000003700000037000000ffffffff8403010038000000390000003a000000000000003b0000000000000000000000000000003c000000000000003d000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000008d020100500000001c000000050000003e0000000c000000040000003f00000040000000410000000000000000000000010000004200000050010100480000008f0200000e000000680801006a0801006c08010000a98301046e616d6500201f6469726563746f72792d646233653633303737316563616163612e7761736d019e78ea0100615f5a4e3230706f727463756c6c69735f67756573745f73646b3862696e64696e67733130706f727463756c6c6973387265736f6c766572336c6f6734656d697431317769745f696d706f727431313768346163333966636633356561323233644501635f5a4e3230706f727463756c6c69735f67756573745f73646b3862696e64696e67733130706f727463756c6c6973387265736f6c76657236636f6e6669673367657431317769745f696d706f727432313768383664613938306665633133613363374502215f5f7761736d5f696d706f72745f696f5f6572726f725f6572726f725f64726f7003205f5f7761736d5f696d706f72745f706f6c6c5f706f6c6c61626c655f64726f7004275f5f7761736d5f696d706f72745f73747265616d735f696e7075745f73747265616d5f64726f7005285f5f7761736d5f696d706f72745f73747265616d735f6f75747075745f73747265616d5f64726f7006305f5f7761736d5f696d706f72745f7465726d696e616c5f696e7075745f7465726d696e616c5f696e7075745f64726f7007325f5f7761736d5f696d706f72745f7465726d696e616c5f6f75747075745f7465726d696e616c5f6f75747075745f64726f7008295f5f7761736d5f696d706f72745f656e7669726f6e6d656e745f6765745f656e7669726f6e6d656e7409175f5f7761736d5f696d706f72745f657869745f657869740a285f5f7761736d5f696d706f72745f706f6c6c5f6d6574686f645f706f6c6c61626c655f626c6f636b0b365f5f7761736d5f696d706f72745f73747265616d735f6d6574686f645f6f75747075745f73747265616d5f636865636b5f77726974650c305f5f7761736d5f696d706f72745f73747265616d735f6d6574686f645f6f75747075745f73747265616d5f77726974650d395f5f7761736d5f696d706f72745f73747265616d735f6d6574686f645f6f75747075745f73747265616d5f626c6f636b696e675f666c7573680e345f5f7761736d5f696d706f72745f73747265616d735f6d6574686f645f6f75747075745f73747265616d5f7375627363726962650f1d5f5f7761736d5f696d706f72745f737464696e5f6765745f737464696e101f5f5f7761736d5f696d706f72745f7374646f75745f6765745f7374646f7574111f5f5f7761736d5f696d706f72745f7374646572725f6765745f737464657272122f5f5f7761736d5f696d706f72745f7465726d696e616c5f737464696e5f6765745f7465726d696e616c5f737464696e13315f5f7761736d5f696d706f72745f7465726d696e616c5f7374646f75745f6765745f7465726d696e616c5f7374646f757414315f5f7761736d5f696d706f72745f7465726d696e616c5f7374646572725f6765745f7465726d696e616c5f73746465727215115f5f7761736d5f63616c6c5f63746f727316725f5a4e3230706f727463756c6c69735f67756573745f73646b3862696e64696e6773376578706f7274733130706f727463756c6c6973387265736f6c766572387265736f6c76657232305f6578706f72745f7265736f6c76655f63616269313768636463353561373436383834633531304517735f5a4e3230706f727463756c6c69735f67756573745f73646b3862696e64696e6773376578706f7274733130706f727463756c6c6973387265736f6c766572387265736f6c76657232315f5f706f73745f72657475726e5f7265736f6c7665313768666332376438626136366264333935624518735f5a4e3230706f727463756c6c69735f67756573745f73646b3862696e64696e6773376578706f7274733130706f727463756c6c6973387265736f6c766572387265736f6c76657232315f6578706f72745f64657363726962655f63616269313768656633333665356139376537353635654519745f5a4e3230706f727463756c6c69735f67756573745f73646b3862696e64696e6773376578706f7274733130706f727463756c6c6973387265736f6c766572387265736f6c76657232325f5f706f73745f72657475726e5f646573637269626531376831393431633337656430633030306131451ab3015f5a4e3134355f244c5424706f727463756c6c69735f67756573745f73646b2e2e67756573742e2e4578706f72746564244c54245224475424247532302461732475323024706f727463756c6c69735f67756573745f73646b2e2e62696e64696e67732e2e6578706f7274732e2e706f727463756c6c69732e2e7265736f6c7665722e2e7265736f6c7665722e2e477565737424475424377265736f6c766531376836383132656434613831643365333430451b435f5a4e35616c6c6f63377261775f7665633139526177566563244c54245424432441244754243867726f775f6f6e6531376837363031356330383339386139393535451c92015f5a4e34636f726533707472383764726f705f696e5f706c616365244c5424706f727463756c6c69735f67756573745f73646b2e2e62696e64696e67732e2e706f727463756c6c69732e2e7265736f6c7665722e2e74797065732e2e56616c75652447542431376837306231303330366434623065396330452e6c6c766d2e393735303131333431343034373234393231351db4015f5a4e3134355f244c5424706f727463756c6c69735f67756573745f73646b2e2e67756573742e2e4578706f72746564244c54245224475424247532302461732475323024706f727463756c6c69735f67756573745f73646b2e2e62696e64696e67732e2e6578706f7274732e2e706f727463756c6c69732e2e7265736f6c7665722e2e7265736f6c7665722e2e47756573742447542438646573637269626531376861376530383135663432306536313464451e435f5a4e35616c6c6f63377261775f7665633139526177566563244c54245424432441244754243867726f775f6f6e6531376833333439393131393332356532653631451f4b5f5a4e35616c6c6f63377261775f7665633230526177566563496e6e6572244c54244124475424313467726f775f616d6f7274697a6564313768363638663930376333353963626462614520485f5a4e35616c6c6f63377261775f7665633230526177566563496e6e6572244c54244124475424313166696e6973685f67726f7731376836373461363366666233343732633133452135636162695f706f73745f706f727463756c6c69733a7265736f6c7665722f7265736f6c76657240312e302e302364657363726962652234636162695f706f73745f706f727463756c6c69733a7265736f6c7665722f7265736f6c76657240312e302e30237265736f6c7665232b706f727463756c6c69733a7265736f6c7665722f7265736f6c76657240312e302e30236465736372696265242a706f727463756c6c69733a7265736f6c7665722f7265736f6c76657240312e302e30237265736f6c7665252a5f524e764373664c66793645493135694c5f375f5f5f727573746331325f5f5f727573745f616c6c6f63262c5f524e764373664c66793645493135694c5f375f5f5f727573746331345f5f5f727573745f6465616c6c6f63272c5f524e764373664c66793645493135694c5f375f5f5f727573746331345f5f5f727573745f7265616c6c6f6328415f524e764373664c66793645493135694c5f375f5f5f727573746333355f5f5f727573745f6e6f5f616c6c6f635f7368696d5f69735f756e737461626c655f763229585f524e765873715f4e744373386a623758494b465353795f35616c6c6f6336737472696e674e7442355f36537472696e674e744e744373397076383438557a5177515f34636f726533666d7437446973706c617933666d742a3f5f5a4e3230706f727463756c6c69735f67756573745f73646b35677565737431306c6f675f70616e69637331376837373734623662323432353233643538452b5d5f5a4e3230706f727463756c6c69735f67756573745f73646b35677565737431306c6f675f70616e69637332385f24753762242475376224636c6f737572652475376424247537642431376864323936353934636161623734313065452c5a5f5a4e34636f7265336f70733866756e6374696f6e36466e4f6e6365343063616c6c5f6f6e636524753762242475376224767461626c652e7368696d2475376424247537642431376833316431613736333533653266346633452d495f5a4e34345f244c54242452462454247532302461732475323024636f72652e2e666d742e2e446973706c61792447542433666d7431376864643732353230396162313632656333452e485f5a4e3230706f727463756c6c69735f67756573745f73646b3862696e64696e6773335f72743132636162695f6465616c6c6f6331376864393966666439356463333333623834452f4a5f5a4e3230706f727463756c6c69735f67756573745f73646b3862696e64696e6773335f7274313472756e5f63746f72735f6f6e6365313768353964373866336139656332313864354530605f5a4e3230706f727463756c6c69735f67756573745f73646b3862696e64696e677334305f5f6c696e6b5f637573746f6d5f73656374696f6e5f64657363726962696e675f696d706f727473313768656437646230663262326161643166304531785f5a4e38385f244c5424706f727463756c6c69735f67756573745f73646b2e2e686f73742e2e496d706f727473247532302461732475323024706f727463756c6c69735f67756573745f73646b2e2e686f73742e2e486f73742447542436636f6e666967313768636362643436633765366262666562644532375f5a4e31317769745f62696e6467656e327274313472756e5f63746f72735f6f6e6365313768313462343064363363393434386436644533335f5a4e31317769745f62696e6467656e32727437436c65616e7570336e6577313768343334636264636664303365353235374534305f524e764373664c66793645493135694c5f375f5f5f727573746331385f5f5f727573745f73746172745f70616e696335485f52494e764e744373397076383438557a5177515f34636f72653970616e69636b696e6731336173736572745f6661696c6564626245437368586661527674327466575f3373746436435f524e764e764d4e744e74437368586661527674327466575f33737464367468726561643269644e7442345f385468726561644964336e65773965786861757374656437715f52494e764e744373397076383438557a5177515f34636f726533707472313364726f705f696e5f706c616365494e744e7442345f36726573756c7436526573756c74754e744e744e74437368586661527674327466575f3373746432696f356572726f72354572726f7245454231395f38635f52494e764e744373397076383438557a5177515f34636f726533707472313364726f705f696e5f706c616365494e744e744373386a623758494b465353795f35616c6c6f633376656333566563684545437368586661527674327466575f337374643983015f52494e764e744373397076383438557a5177515f34636f726533707472313364726f705f696e5f706c616365494e744e764e74437368586661527674327466575f3373746432696f313764656661756c745f77726974655f666d743741646170746572494e744e74424c5f36637572736f7236437572736f72515368454545424e5f3a665f52494e764e744373397076383438557a5177515f34636f726533707472313364726f705f696e5f706c6163654e744e744373386a623758494b465353795f35616c6c6f6336737472696e6736537472696e6745437368586661527674327466575f337374643b775f52494e764e744373397076383438557a5177515f34636f726533707472313364726f705f696e5f706c6163654e744e764e74437368586661527674327466575f337374643970616e69636b696e67313370616e69635f68616e646c65723139466f726d6174537472696e675061796c6f616445424d5f3c84015f52494e764e764d73325f4e744373386a623758494b465353795f35616c6c6f63377261775f766563494e7442385f3131526177566563496e6e6572704537726573657276653231646f5f726573657276655f616e645f68616e646c654e744e7442615f35616c6c6f6336476c6f62616c45437368586661527674327466575f337374643d575f524e764d73345f4e744373386a623758494b465353795f35616c6c6f63377261775f7665634e7442355f3131526177566563496e6e6572313166696e6973685f67726f77437368586661527674327466575f337374643e645f52494e764e744e74437368586661527674327466575f3373746433737973396261636b747261636532365f5f5f727573745f656e645f73686f72745f6261636b74726163654e434e764e7442365f35616c6c6f6338727573745f6f6f6d307a4542365f3f2d5f524e434e764e74437368586661527674327466575f3373746435616c6c6f6338727573745f6f6f6d3042355f406e5f52494e764e744e74437368586661527674327466575f3373746433737973396261636b747261636532365f5f5f727573745f656e645f73686f72745f6261636b74726163654e434e764e7442365f3970616e69636b696e67313370616e69635f68616e646c6572307a4542365f41375f524e434e764e74437368586661527674327466575f337374643970616e69636b696e67313370616e69635f68616e646c65723042355f429b015f52494e764e744e744e74437368586661527674327466575f33737464337379733768656c706572733134736d616c6c5f635f737472696e67323472756e5f776974685f637374725f616c6c6f636174696e67494e744e744373397076383438557a5177515f34636f7265366f7074696f6e364f7074696f6e4e744e744e7442385f33666669366f735f737472384f73537472696e67454542385f43335f524e764e74437368586661527674327466575f337374643970616e69636b696e67313570616e69635f776974685f686f6f6b446a5f524e43494e764e744e74437368586661527674327466575f33737464367468726561643763757272656e743137776974685f63757272656e745f6e616d654e434e434e764e7442385f3970616e69636b696e67313264656661756c745f686f6f6b303075453042385f45475f524e76587331695f4e744373397076383438557a5177515f34636f726533666d7452654e7442365f37446973706c617933666d74437368586661527674327466575f3373746446675f524e76587331695f4e744373397076383438557a5177515f34636f726533666d74524e744e744e7442385f3570616e6963386c6f636174696f6e384c6f636174696f6e4e7442365f37446973706c617933666d74437368586661527674327466575f33737464474b5f524e7659494e744e744e74437368586661527674327466575f3373746432696f36637572736f7236437572736f72515368454e7442375f3557726974653977726974655f666d7442395f48385f524e764e74437368586661527674327466575f3373746435616c6c6f63323464656661756c745f616c6c6f635f6572726f725f686f6f6b49265f524e764e74437368586661527674327466575f337374643770726f636573733561626f72744a365f524e434e764e74437368586661527674327466575f337374643970616e69636b696e67313264656661756c745f686f6f6b3042355f4b2d5f524e764e744e74437368586661527674327466575f3373746433737973396261636b7472616365346c6f636b4c435f524e764d4e744e74437368586661527674327466575f3373746433737973396261636b74726163654e7442325f31334261636b74726163654c6f636b357072696e744d305f524e764e74437368586661527674327466575f337374643970616e69636b696e67313264656661756c745f686f6f6b4e275f524e764373664c66793645493135694c5f375f5f5f72757374633130727573745f70616e69634f525f524e76594e744e744e744e74437368586661527674327466575f337374643373797335737464696f34756e6978365374646572724e744e7442615f32696f3557726974653977726974655f666d7442615f50295f524e764373664c66793645493135694c5f375f5f5f727573746331315f5f5f72646c5f616c6c6f63512a5f524e764373664c66793645493135694c5f375f5f5f727573746331325f5f5f727573745f61626f7274522b5f524e764373664c66793645493135694c5f375f5f5f727573746331335f5f5f72646c5f6465616c6c6f63532b5f524e764373664c66793645493135694c5f375f5f5f727573746331335f5f5f72646c5f7265616c6c6f63542e5f524e764373664c66793645493135694c5f375f5f5f72757374633137727573745f626567696e5f756e77696e6455385f524e764373664c66793645493135694c5f375f5f5f727573746332365f5f5f727573745f616c6c6f635f6572726f725f68616e646c657256275f524e764e74437368586661527674327466575f3373746435616c6c6f6338727573745f6f6f6d5784015f524e76584e764d4e744e74437368586661527674327466575f3373746433737973396261636b74726163654e7442355f31334261636b74726163654c6f636b357072696e744e7442325f3136446973706c61794261636b74726163654e744e744373397076383438557a5177515f34636f726533666d7437446973706c617933666d7458255f524e764e74437368586661527674327466575f3373746433656e76375f5f7661725f6f73596a5f524e764d73355f4e744e744e74437368586661527674327466575f337374643473796e6336706f69736f6e356d75746578494e7442355f354d75746578494e744e744373386a623758494b465353795f35616c6c6f633376656333566563684545346c6f636b42625f5a81015f524e764d736e5f4e744373386a623758494b465353795f35616c6c6f633473796e63494e7442355f33417263494e744e744e744e74437368586661527674327466575f337374643473796e6336706f69736f6e356d75746578354d75746578494e744e7442375f3376656333566563684545453964726f705f736c6f7742505f5b295f524e764e74437368586661527674327466575f3373746433656e76313163757272656e745f6469725c335f524e764e74437368586661527674327466575f337374643570616e696331396765745f6261636b74726163655f7374796c655d435f524e764e744e744e744e74437368586661527674327466575f33737464337379733370616c34776173693768656c70657273313461626f72745f696e7465726e616c5e325f524e764e74437368586661527674327466575f337374643970616e69636b696e6731347061796c6f61645f61735f7374725f3a5f524e764e744e74437368586661527674327466575f337374643970616e69636b696e67313170616e69635f636f756e7438696e63726561736560655f524e765873316a5f4e744373397076383438557a5177515f34636f726533666d7451444e744e7442385f3570616e6963313250616e69635061796c6f6164454c5f4e7442365f37446973706c617933666d74437368586661527674327466575f33737464612b5f524e764e74437368586661527674327466575f337374643970616e69636b696e67387365745f686f6f6b62445f524e764e744e74437368586661527674327466575f337374643970616e69636b696e67313170616e69635f636f756e74313769735f7a65726f5f736c6f775f7061746863545f524e7659494e744e744373386a623758494b465353795f35616c6c6f63337665633356656368454e744e74437368586661527674327466575f3373746432696f3557726974653977726974655f666d7442465f64675f524e76584e744373397076383438557a5177515f34636f726533616e794e744e744373386a623758494b465353795f35616c6c6f6336737472696e6736537472696e674e7442325f33416e7937747970655f6964437368586661527674327466575f3373746465435f524e76584e744373397076383438557a5177515f34636f726533616e7952654e7442325f33416e7937747970655f6964437368586661527674327466575f337374646688015f524e76584e764e74437368586661527674327466575f3373746432696f313764656661756c745f77726974655f666d74494e7442325f3741646170746572494e744e7442345f36637572736f7236437572736f7251536845454e744e744373397076383438557a5177515f34636f726533666d743557726974653977726974655f73747242365f6791015f524e76584e764e74437368586661527674327466575f3373746432696f313764656661756c745f77726974655f666d74494e7442325f3741646170746572494e744e744373386a623758494b465353795f35616c6c6f6333766563335665636845454e744e744373397076383438557a5177515f34636f726533666d743557726974653977726974655f73747242365f688f015f524e76584e764e74437368586661527674327466575f3373746432696f313764656661756c745f77726974655f666d74494e7442325f37416461707465724e744e744e744e7442365f3373797335737464696f34756e697836537464657272454e744e744373397076383438557a5177515f34636f726533666d743557726974653977726974655f73747242365f695c5f524e76594e744e744e744e74437368586661527674327466575f337374643373797335737464696f34756e6978365374646572724e744e7442615f32696f355772697465313877726974655f616c6c5f766563746f72656442615f6a785f524e765873305f4e764e74437368586661527674327466575f337374643970616e69636b696e67313370616e69635f68616e646c65724e7442355f3139466f726d6174537472696e675061796c6f61644e744e744373397076383438557a5177515f34636f726533666d7437446973706c617933666d746b7d5f524e765873315f4e764e74437368586661527674327466575f337374643970616e69636b696e67313370616e69635f68616e646c65724e7442355f31365374617469635374725061796c6f61644e744e744373397076383438557a5177515f34636f72653570616e6963313250616e69635061796c6f6164336765746c80015f524e765873315f4e764e74437368586661527674327466575f337374643970616e69636b696e67313370616e69635f68616e646c65724e7442355f31365374617469635374725061796c6f61644e744e744373397076383438557a5177515f34636f72653570616e6963313250616e69635061796c6f61643661735f7374726d82015f524e765873315f4e764e74437368586661527674327466575f337374643970616e69636b696e67313370616e69635f68616e646c65724e7442355f31365374617469635374725061796c6f61644e744e744373397076383438557a5177515f34636f72653570616e6963313250616e69635061796c6f61643874616b655f626f786e455f524e76587331675f4e744373397076383438557a5177515f34636f726533666d7452624e7442365f35446562756733666d74437368586661527674327466575f337374646f755f524e765873325f4e764e74437368586661527674327466575f337374643970616e69636b696e67313370616e69635f68616e646c65724e7442355f31365374617469635374725061796c6f61644e744e744373397076383438557a5177515f34636f726533666d7437446973706c617933666d74705b5f524e765873335f4e744e744e74437368586661527674327466575f337374643373797335737464696f34756e69784e7442355f365374646572724e744e7442625f32696f355772697465313477726974655f766563746f726564715e5f524e765873335f4e744e744e74437368586661527674327466575f337374643373797335737464696f34756e69784e7442355f365374646572724e744e7442625f32696f355772697465313769735f77726974655f766563746f72656472515f524e765873335f4e744e744e74437368586661527674327466575f337374643373797335737464696f34756e69784e7442355f365374646572724e744e7442625f32696f35577269746535666c75736873515f524e765873335f4e744e744e74437368586661527674327466575f337374643373797335737464696f34756e69784e7442355f365374646572724e744e7442625f32696f35577269746535777269746574685f524e765873395f4e744e74437368586661527674327466575f3373746432696f35696d706c73494e744e744373386a623758494b465353795f35616c6c6f63337665633356656368454e7442375f355772697465313477726974655f766563746f72656442395f756b5f524e765873395f4e744e74437368586661527674327466575f3373746432696f35696d706c73494e744e744373386a623758494b465353795f35616c6c6f63337665633356656368454e7442375f355772697465313769735f77726974655f766563746f72656442395f766c5f524e765873395f4e744e74437368586661527674327466575f3373746432696f35696d706c73494e744e744373386a623758494b465353795f35616c6c6f63337665633356656368454e7442375f355772697465313877726974655f616c6c5f766563746f72656442395f775e5f524e765873395f4e744e74437368586661527674327466575f3373746432696f35696d706c73494e744e744373386a623758494b465353795f35616c6c6f63337665633356656368454e7442375f35577269746535666c75736842395f785e5f524e765873395f4e744e74437368586661527674327466575f3373746432696f35696d706c73494e744e744373386a623758494b465353795f35616c6c6f63337665633356656368454e7442375f35577269746535777269746542395f79625f524e765873395f4e744e74437368586661527674327466575f3373746432696f35696d706c73494e744e744373386a623758494b465353795f35616c6c6f63337665633356656368454e7442375f3557726974653977726974655f616c6c42395f7a5e5f524e7658735a5f4e744373386a623758494b465353795f35616c6c6f6336737472696e674e7442355f36537472696e674e744e744373397076383438557a5177515f34636f726533666d74355772697465313077726974655f636861727b5c5f524e7658735a5f4e744373386a623758494b465353795f35616c6c6f6336737472696e674e7442355f36537472696e674e744e744373397076383438557a5177515f34636f726533666d743557726974653977726974655f7374727c7f5f524e7658735f4e764e74437368586661527674327466575f337374643970616e69636b696e67313370616e69635f68616e646c65724e7442345f3139466f726d6174537472696e675061796c6f61644e744e744373397076383438557a5177515f34636f72653570616e6963313250616e69635061796c6f6164336765747d84015f524e7658735f4e764e74437368586661527674327466575f337374643970616e69636b696e67313370616e69635f68616e646c65724e7442345f3139466f726d6174537472696e675061796c6f61644e744e744373397076383438557a5177515f34636f72653570616e6963313250616e69635061796c6f61643874616b655f626f787e87015f524e7659494e744e764e74437368586661527674327466575f3373746432696f313764656661756c745f77726974655f666d743741646170746572494e744e7442375f36637572736f7236437572736f7251536845454e744e744373397076383438557a5177515f34636f726533666d74355772697465313077726974655f6368617242395f7f85015f524e7659494e744e764e74437368586661527674327466575f3373746432696f313764656661756c745f77726974655f666d743741646170746572494e744e7442375f36637572736f7236437572736f7251536845454e744e744373397076383438557a5177515f34636f726533666d743557726974653977726974655f666d7442395f800190015f524e7659494e744e764e74437368586661527674327466575f3373746432696f313764656661756c745f77726974655f666d743741646170746572494e744e744373386a623758494b465353795f35616c6c6f6333766563335665636845454e744e744373397076383438557a5177515f34636f726533666d74355772697465313077726974655f6368617242395f81018e015f524e7659494e744e764e74437368586661527674327466575f3373746432696f313764656661756c745f77726974655f666d743741646170746572494e744e744373386a623758494b465353795f35616c6c6f6333766563335665636845454e744e744373397076383438557a5177515f34636f726533666d743557726974653977726974655f666d7442395f82018e015f524e7659494e744e764e74437368586661527674327466575f3373746432696f313764656661756c745f77726974655f666d7437416461707465724e744e744e744e7442395f3373797335737464696f34756e697836537464657272454e744e744373397076383438557a5177515f34636f726533666d74355772697465313077726974655f6368617242395f83018c015f524e7659494e744e764e74437368586661527674327466575f3373746432696f313764656661756c745f77726974655f666d7437416461707465724e744e744e744e7442395f3373797335737464696f34756e697836537464657272454e744e744373397076383438557a5177515f34636f726533666d743557726974653977726974655f666d7442395f8401755f524e7659494e744e764e74437368586661527674327466575f337374643970616e69636b696e673131626567696e5f70616e6963375061796c6f61645265454e744e744373397076383438557a5177515f34636f72653570616e6963313250616e69635061796c6f61643661735f73747242395f8501685f524e76594e744e744373386a623758494b465353795f35616c6c6f6336737472696e6736537472696e674e744e744373397076383438557a5177515f34636f726533666d743557726974653977726974655f666d74437368586661527674327466575f337374648601525f524e76594e744e744e744e74437368586661527674327466575f337374643373797335737464696f34756e6978365374646572724e744e7442615f32696f3557726974653977726974655f616c6c42615f87010c636162695f7265616c6c6f638801625f524e764d73335f4e744373386a623758494b465353795f35616c6c6f63377261775f766563494e7442355f36526177566563494e744e7442375f33766563335665636845453867726f775f6f6e6543736b70376d594d384f36596e5f347761736989015b5f524e764d73345f4e744373386a623758494b465353795f35616c6c6f63377261775f7665634e7442355f3131526177566563496e6e6572313467726f775f616d6f7274697a656443736b70376d594d384f36596e5f34776173698a016a5f524e764d73335f4e744373386a623758494b465353795f35616c6c6f63377261775f766563494e7442355f36526177566563544e744e7442375f36737472696e6736537472696e67424e5f45453867726f775f6f6e6543736b70376d594d384f36596e5f34776173698b01585f524e764d73345f4e744373386a623758494b465353795f35616c6c6f63377261775f7665634e7442355f3131526177566563496e6e6572313166696e6973685f67726f7743736b70376d594d384f36596e5f34776173698c014a5f524e764e7443736b70376d594d384f36596e5f34776173693570726f787934305f5f5f6c696e6b5f637573746f6d5f73656374696f6e5f64657363726962696e675f696d706f7274738d01067772697465768e010577726974658f01055f457869749001195f5f776173696c6962635f656e737572655f656e7669726f6e91011d5f5f776173696c6962635f696e697469616c697a655f656e7669726f6e92010561626f727493010667657463776494011764657363726970746f725f7461626c655f696e7365727495011864657363726970746f725f7461626c655f6765745f7265669601257761736970325f6c6973745f7475706c65325f737472696e675f737472696e675f66726565970117696f5f6572726f725f6572726f725f64726f705f6f776e980116706f6c6c5f706f6c6c61626c655f64726f705f6f776e990114706f6c6c5f626f72726f775f706f6c6c61626c659a011d73747265616d735f696e7075745f73747265616d5f64726f705f6f776e9b011b73747265616d735f626f72726f775f696e7075745f73747265616d9c011e73747265616d735f6f75747075745f73747265616d5f64726f705f6f776e9d011c73747265616d735f626f72726f775f6f75747075745f73747265616d9e01267465726d696e616c5f696e7075745f7465726d696e616c5f696e7075745f64726f705f6f776e9f01287465726d696e616c5f6f75747075745f7465726d696e616c5f6f75747075745f64726f705f6f776ea0011b656e7669726f6e6d656e745f6765745f656e7669726f6e6d656e74a10109657869745f65786974a2011a706f6c6c5f6d6574686f645f706f6c6c61626c655f626c6f636ba3012873747265616d735f6d6574686f645f6f75747075745f73747265616d5f636865636b5f7772697465a4012273747265616d735f6d6574686f645f6f75747075745f73747265616d5f7772697465a5012b73747265616d735f6d6574686f645f6f75747075745f73747265616d5f626c6f636b696e675f666c757368a6012673747265616d735f6d6574686f645f6f75747075745f73747265616d5f737562736372696265a7010f737464696e5f6765745f737464696ea801117374646f75745f6765745f7374646f7574a901117374646572725f6765745f737464657272aa01217465726d696e616c5f737464696e5f6765745f7465726d696e616c5f737464696eab01237465726d696e616c5f7374646f75745f6765745f7465726d696e616c5f7374646f7574ac01237465726d696e616c5f7374646572725f6765745f7465726d696e616c5f737464657272ad014d5f5f636f6d706f6e656e745f747970655f6f626a6563745f666f7263655f6c696e6b5f7761736970325f7075626c69635f7573655f696e5f746869735f636f6d70696c6174696f6e5f756e6974ae01175f5f776173696c6962635f77726974655f73747265616daf01155f5f776173696c6962635f696e69745f737464696fb0010a737464696f5f66726565b10115737464696f5f6765745f726561645f73747265616db20116737464696f5f6765745f77726974655f73747265616db3010b737464696f5f6673746174b40111737464696f5f66636e746c5f676574666cb5010c737464696f5f697361747479b60106676574656e76b7010b5f5f7374726368726e756cb801085f5f737470637079b90106737472637079ba0106737472647570bb01067374726c656ebc01077374726e636d70bd01047362726bbe01066d616c6c6f63bf0108646c6d616c6c6f63c0010d70726570656e645f616c6c6f63c1010466726565c20106646c66726565c3010663616c6c6f63c401077265616c6c6f63c5010d646973706f73655f6368756e6bc6010e706f7369785f6d656d616c69676ec70111696e7465726e616c5f6d656d616c69676ec801295f5f636f6d706f6e656e745f747970655f6f626a6563745f666f7263655f6c696e6b5f776173697032c901575f52494e764e744373397076383438557a5177515f34636f726533707472313364726f705f696e5f706c6163654e744e744373386a623758494b465353795f35616c6c6f6336737472696e6736537472696e6745424b5fca01755f52494e764e764d73325f4e744373386a623758494b465353795f35616c6c6f63377261775f766563494e7442385f3131526177566563496e6e6572704537726573657276653231646f5f726573657276655f616e645f68616e646c654e744e7442615f35616c6c6f6336476c6f62616c4542615fcb01305f524e764e744373386a623758494b465353795f35616c6c6f63377261775f766563313268616e646c655f6572726f72cc01485f524e764d73345f4e744373386a623758494b465353795f35616c6c6f63377261775f7665634e7442355f3131526177566563496e6e6572313166696e6973685f67726f7742375fcd01345f524e764e744373386a623758494b465353795f35616c6c6f6335616c6c6f63313868616e646c655f616c6c6f635f6572726f72ce014c5f524e764d735f4e744e744373386a623758494b465353795f35616c6c6f633366666935635f7374724e7442345f3743537472696e6731395f5f66726f6d5f7665635f756e636865636b6564cf01355f524e764e744373386a623758494b465353795f35616c6c6f63377261775f766563313763617061636974795f6f766572666c6f77d001355f524e764e764e744373386a623758494b465353795f35616c6c6f6333666d7436666f726d61743132666f726d61745f696e6e6572d1015a5f524e765873345f4e744373386a623758494b465353795f35616c6c6f6336737472696e674e7442355f36537472696e674e744e744373397076383438557a5177515f34636f726535636c6f6e6535436c6f6e6535636c6f6e65d2013b5f524e7658734b5f4e744373397076383438557a5177515f34636f726533666d744e7442355f354572726f724e7442355f35446562756733666d74d3015e5f524e7658735a5f4e744373386a623758494b465353795f35616c6c6f6336737472696e674e7442355f36537472696e674e744e744373397076383438557a5177515f34636f726533666d74355772697465313077726974655f63686172d4015c5f524e7658735a5f4e744373386a623758494b465353795f35616c6c6f6336737472696e674e7442355f36537472696e674e744e744373397076383438557a5177515f34636f726533666d743557726974653977726974655f737472d501635f524e7658735f4e764d735f4e744e744373386a623758494b465353795f35616c6c6f633366666935635f7374724e7442395f3743537472696e67336e65775253684e7442345f3131537065634e6577496d706c3133737065635f6e65775f696d706cd601595f524e76594e744e744373386a623758494b465353795f35616c6c6f6336737472696e6736537472696e674e744e744373397076383438557a5177515f34636f726533666d743557726974653977726974655f666d7442365fd701385f524e764e744373397076383438557a5177515f34636f72653970616e69636b696e6731396173736572745f6661696c65645f696e6e6572d801395f524e764e744e744373397076383438557a5177515f34636f726535736c69636535696e6465783136736c6963655f696e6465785f6661696cd9012d5f524e764e744373397076383438557a5177515f34636f72653970616e69636b696e673970616e69635f666d74da013f5f524e765873645f4e744e744e744373397076383438557a5177515f34636f726533666d74336e756d33696d70794e7442395f37446973706c617933666d74db01385f524e76587331695f4e744373397076383438557a5177515f34636f726533666d7452654e7442365f37446973706c617933666d7442385fdc01235f524e764e744373397076383438557a5177515f34636f726533666d74357772697465dd01485f524e764d73335f4e744e744373397076383438557a5177515f34636f72653366666935635f7374724e7442355f3443537472313966726f6d5f62797465735f776974685f6e756cde013e5f524e764d73615f4e744373397076383438557a5177515f34636f726533666d744e7442355f39466f726d617474657231327061645f696e74656772616cdf01355f524e764e744e744373397076383438557a5177515f34636f72653373747235636f756e743134646f5f636f756e745f6368617273e0014e5f524e764e764d73615f4e744373397076383438557a5177515f34636f726533666d744e7442375f39466f726d617474657231327061645f696e74656772616c313277726974655f707265666978e101345f524e764d73615f4e744373397076383438557a5177515f34636f726533666d744e7442355f39466f726d617474657233706164e2013a5f524e764d73615f4e744373397076383438557a5177515f34636f726533666d744e7442355f39466f726d61747465723977726974655f737472e3013f5f524e765873385f4e744e744e744373397076383438557a5177515f34636f726533666d74336e756d33696d706d4e7442395f37446973706c617933666d74e4012f5f524e764e744373397076383438557a5177515f34636f726536726573756c743133756e777261705f6661696c6564e5013c5f524e76587331675f4e744373397076383438557a5177515f34636f726533666d7452444e7442365f354465627567454c5f42785f33666d7442385fe601415f524e765873385f4e744373397076383438557a5177515f34636f726533666d744e7442355f39417267756d656e74734e7442355f37446973706c617933666d74e701385f524e764e744e744373397076383438557a5177515f34636f726535736c696365366d656d63687231346d656d6368725f616c69676e6564e801335f524e765873675f4e744373397076383438557a5177515f34636f726533666d74624e7442355f37446973706c617933666d74e901335f524e765873695f4e744373397076383438557a5177515f34636f726533666d74654e7442355f37446973706c617933666d7407cb0a14000f5f5f737461636b5f706f696e7465720178474f542e646174612e696e7465726e616c2e5f5a4e3230706f727463756c6c69735f67756573745f73646b3862696e64696e6773376578706f7274733130706f727463756c6c6973387265736f6c766572387265736f6c766572395f5245545f415245413137686665353330313762663465666533393545021f474f542e646174612e696e7465726e616c2e5f5f6d656d6f72795f626173650351474f542e66756e632e696e7465726e616c2e5f524e765873385f4e744e744e744373397076383438557a5177515f34636f726533666d74336e756d33696d706d4e7442395f37446973706c617933666d74041e474f542e646174612e696e7465726e616c2e5f5f7461626c655f626173650535474f542e646174612e696e7465726e616c2e5f524e764e74437368586661527674327466575f3373746435616c6c6f6334484f4f4b064a474f542e66756e632e696e7465726e616c2e5f524e764e74437368586661527674327466575f3373746435616c6c6f63323464656661756c745f616c6c6f635f6572726f725f686f6f6b0739474f542e646174612e696e7465726e616c2e5f524e764e74437368586661527674327466575f337374643970616e69636b696e6734484f4f4b0843474f542e646174612e696e7465726e616c2e5f524e764e744e744e74437368586661527674327466575f33737464367468726561643763757272656e743269643249440951474f542e66756e632e696e7465726e616c2e5f524e765873645f4e744e744e744373397076383438557a5177515f34636f726533666d74336e756d33696d70794e7442395f37446973706c617933666d740a51474f542e66756e632e696e7465726e616c2e5f524e765873695f4e744e744e744373397076383438557a5177515f34636f726533666d74336e756d33696d706a4e7442395f37446973706c617933666d740b43474f542e646174612e696e7465726e616c2e5f524e764e744e74437368586661527674327466575f33737464367468726561643763757272656e743743555252454e540c78474f542e646174612e696e7465726e616c2e5f524e764e434e764e764e744e744e74437368586661527674327466575f337374643473796e63346d706d633577616b6572313763757272656e745f7468726561645f69643544554d4d593032335f5f5f525553545f5354445f494e5445524e414c5f56414c0d9601474f542e66756e632e696e7465726e616c2e5f524e76584e764d4e744e74437368586661527674327466575f3373746433737973396261636b74726163654e7442355f31334261636b74726163654c6f636b357072696e744e7442325f3136446973706c61794261636b74726163654e744e744373397076383438557a5177515f34636f726533666d7437446973706c617933666d740e17474f542e646174612e696e7465726e616c2e6572726e6f0f57474f542e646174612e696e7465726e616c2e5f524e764e744e74437368586661527674327466575f337374643970616e69636b696e67313170616e69635f636f756e743138474c4f42414c5f50414e49435f434f554e541024474f542e646174612e696e7465726e616c2e5f5f776173696c6962635f656e7669726f6e111d474f542e646174612e696e7465726e616c2e5f5f686561705f62617365121c474f542e646174612e696e7465726e616c2e5f5f686561705f656e641353474f542e66756e632e696e7465726e616c2e5f524e765873385f4e744373397076383438557a5177515f34636f726533666d744e7442355f39417267756d656e74734e7442355f37446973706c617933666d7409110200072e726f6461746101052e6461746100fb010970726f64756365727302086c616e67756167650204527573740003433131000c70726f6365737365642d6279050572757374631d312e39352e30202835393830373631366520323032362d30342d31342905636c616e675f32312e312e342d776173692d73646b202868747470733a2f2f6769746875622e636f6d2f6c6c766d2f6c6c766d2d70726f6a6563742032323266633131663262386632356636613066343937363237326566316262376266343935323164290d7769742d636f6d706f6e656e7407302e3234342e30107769742d62696e6467656e2d7275737406302e34352e300d7769742d62696e6467656e2d6306302e35312e3000a4010f7461726765745f6665617475726573092b0b62756c6b2d6d656d6f72792b0f62756c6b2d6d656d6f72792d6f70742b1663616c6c2d696e6469726563742d6f7665726c6f6e672b0e657874656e6465642d636f6e73742b0a6d756c746976616c75652b0f6d757461626c652d676c6f62616c732b136e6f6e7472617070696e672d6670746f696e742b0f7265666572656e63652d74797065732b087369676e2d657874018c020061736d01000000011d0560037f7f7f0060037f7f7f0060027f7f0060047f7f7f7f0060017f00030a090001020302040404040405017001090907300a0130000001310001013200020133000301340004013500050136000601370007013800080824696d706f72747301000a6d090d0020002001200241001100000b0d0020002001200241011101000b0b002000200141021102000b0f00200020012002200341031103000b0b002000200141041102000b0900200041051104000b0900200041061104000b0900200041071104000b0900200041081104000b002f0970726f647563657273010c70726f6365737365642d6279010d7769742d636f6d706f6e656e7407302e3234352e3101a8010061736d01000000011d0560037f7f7f0060037f7f7f0060027f7f0060047f7f7f7f0060017f00023d0a000130000000013100010001320002000133000300013400020001350004000136000400013700040001380004000824696d706f7274730170010909090f010041000b09000102030405060708002f0970726f647563657273010c70726f6365737365642d6279010d7769742d636f6d706f6e656e7407302e3234352e310204010001000637050300020a64657363726970746f7203000207726571756573740300020a7265736f6c7574696f6e030002056572726f72000001000130020a01010104656d697400000607010000010001310209010101036765740001060a01030004056572726f72080301031c021a010101145b7265736f757263652d64726f705d6572726f720002060d0103000308706f6c6c61626c65080301031d061b01010003165b6d6574686f645d706f6c6c61626c652e626c6f636b080501010000000236010102175b7265736f757263652d64726f705d706f6c6c61626c650003165b6d6574686f645d706f6c6c61626c652e626c6f636b00040611010300050c696e7075742d73747265616d080301031e0612010300050d6f75747075742d73747265616d080301031f0636040000010001320000010001330000010001340100051f5b6d6574686f645d6f75747075742d73747265616d2e7375627363726962650805010100010002cb010101061b5b7265736f757263652d64726f705d696e7075742d73747265616d00051c5b7265736f757263652d64726f705d6f75747075742d73747265616d0006215b6d6574686f645d6f75747075742d73747265616d2e636865636b2d777269746500071b5b6d6574686f645d6f75747075742d73747265616d2e77726974650008245b6d6574686f645d6f75747075742d73747265616d2e626c6f636b696e672d666c75736800091f5b6d6574686f645d6f75747075742d73747265616d2e737562736372696265000a06130103000b0e7465726d696e616c2d696e707574080301032002230101011d5b7265736f757263652d64726f705d7465726d696e616c2d696e707574000b06140103000c0f7465726d696e616c2d6f7574707574080301032102240101011e5b7265736f757263652d64726f705d7465726d696e616c2d6f7574707574000c06070100000100013502150101010f6765742d656e7669726f6e6d656e74000d060901010007046578697408050101000200020a0101010465786974000e060e01010008096765742d737464696e08050101000300020f010101096765742d737464696e000f060f010100090a6765742d7374646f75740805010100040002100101010a6765742d7374646f75740010060f0101000a0a6765742d7374646572720805010100050002100101010a6765742d73746465727200110607010000010001360218010101126765742d7465726d696e616c2d737464696e00120607010000010001370219010101136765742d7465726d696e616c2d7374646f7574001306070100000100013802bf03020101136765742d7465726d696e616c2d737464657272001400000f1d706f727463756c6c69733a7265736f6c7665722f6c6f6740312e302e30120120706f727463756c6c69733a7265736f6c7665722f636f6e66696740312e302e30120213776173693a696f2f6572726f7240302e322e30120312776173693a696f2f706f6c6c40302e322e30120415776173693a696f2f73747265616d7340302e322e3012051d776173693a636c692f7465726d696e616c2d696e70757440302e322e3012061e776173693a636c692f7465726d696e616c2d6f757470757440302e322e3012071a776173693a636c692f656e7669726f6e6d656e7440302e322e30120813776173693a636c692f6578697440302e322e30120914776173693a636c692f737464696e40302e322e30120a15776173693a636c692f7374646f757440302e322e30120b15776173693a636c692f73746465727240302e322e30120c1d776173693a636c692f7465726d696e616c2d737464696e40302e322e30120d1e776173693a636c692f7465726d696e616c2d7374646f757440302e322e30120e1e776173693a636c692f7465726d696e616c2d73746465727240302e322e30120f06320400020110066d656d6f7279000101000824696d706f72747301000004656d6974000001100c636162695f7265616c6c6f630808010100060203000006080101000103676574080a01010007030300041500062601010005215b6d6574686f645d6f75747075742d73747265616d2e636865636b2d77726974650807010100080103000620010100051b5b6d6574686f645d6f75747075742d73747265616d2e7772697465080701010009010300062901010005245b6d6574686f645d6f75747075742d73747265616d2e626c6f636b696e672d666c75736808070101000a0103000614010100060f6765742d656e7669726f6e6d656e74080a0101000b03030004150006170101000d126765742d7465726d696e616c2d737464696e08070101000c01030006180101000e136765742d7465726d696e616c2d7374646f757408070101000d01030006180101000f136765742d7465726d696e616c2d73746465727208070101000e010300023802010a0824696d706f7274730100013000160131001701320018013300190134001a0135001b0136001c0137001d0138001e00020100121107050140000018066b02000001102b706f727463756c6c69733a7265736f6c7665722f7265736f6c76657240312e302e302364657363726962650000011035636162695f706f73745f706f727463756c6c69733a7265736f6c7665722f7265736f6c76657240312e302e30236465736372696265080b0100001f030300000520220713026a011a011b40010772657175657374190023066902000001102a706f727463756c6c69733a7265736f6c7665722f7265736f6c76657240312e302e30237265736f6c76650000011034636162695f706f73745f706f727463756c6c69733a7265736f6c7665722f7265736f6c76657240312e302e30237265736f6c7665080d010000210403000415000522240693010c030002046b696e640300020e6174747269627574652d737065630300020a636f6e6669672d6b65790300020a64657363726970746f720300020576616c756503000205696e7075740300020772657175657374030002096174747269627574650300020a7265736f6c7574696f6e0300020c6661696c7572652d6b696e64030002076661696c757265030002056572726f720492090061736d0d0001000725016d050474657874066e756d62657207626f6f6c65616e057465787473076e756d626572730a16010010696d706f72742d747970652d6b696e64030000071f017203046e616d6573046b696e64010e64656661756c742d74746c2d6d73790a2001001a696d706f72742d747970652d6174747269627574652d737065630300020713017202046e616d65730872657175697265647f0a1c010016696d706f72742d747970652d636f6e6669672d6b6579030004074f067003707370056f02737370097207046e616d65730776657273696f6e730a617474726962757465730606696e70757473070b636f6e6669672d6b6579730809656e64706f696e747307036578740a0a1c010016696d706f72742d747970652d64657363726970746f7203000b073602707571050474657874017300066e756d62657201750007626f6f6c65616e017f00057465787473010700076e756d62657273010d000a17010011696d706f72742d747970652d76616c756503000e0710017202046e616d65730576616c75650f0a17010011696d706f72742d747970652d696e7075740300100772027011720c0674656e616e7473077375626a6563747306646f6d61696e73087265736f757263657306616374696f6e7305726f6c657307047573657212137265736f757263652d61747472696275746573120677616e74656407066e6f772d6d7377096275646765742d6d7379036578740a0a19010013696d706f72742d747970652d72657175657374030013071a026b797203046e616d65730576616c75650f0674746c2d6d73150a1b010015696d706f72742d747970652d617474726962757465030016071e02701772030a617474726962757465731806616273656e7407036578740a0a1c010016696d706f72742d747970652d7265736f6c7574696f6e0300190720016d030b756e726561636861626c650974696d65642d6f7574067374617475730a1e010018696d706f72742d747970652d6661696c7572652d6b696e6403001b0712017202046b696e641c076d657373616765730a19010013696d706f72742d747970652d6661696c75726503001d072901710307696e76616c69640173000b756e617661696c61626c65011e0008696e7465726e616c0173000a33020011696d706f72742d747970652d6572726f7203001f0017696d706f72742d747970652d64657363726970746f723003000c070501400000210a65040014696d706f72742d66756e632d646573637269626501220014696d706f72742d747970652d72657175657374300300140017696d706f72742d747970652d7265736f6c7574696f6e3003001a0012696d706f72742d747970652d6572726f72300300200713026a01240125400107726571756573742300260a18010013696d706f72742d66756e632d7265736f6c766501270b3504000a64657363726970746f72030c00000772657175657374031400000a7265736f6c7574696f6e031a0000056572726f72032000070501400000280b100100086465736372696265010001012c0713026a012a012b4001077265717565737429002d0b0f0100077265736f6c7665010101012e05a7030100001214696d706f72742d66756e632d6465736372696265010f13696d706f72742d66756e632d7265736f6c7665011010696d706f72742d747970652d6b696e6403251a696d706f72742d747970652d6174747269627574652d73706563032616696d706f72742d747970652d636f6e6669672d6b6579032716696d706f72742d747970652d64657363726970746f72032811696d706f72742d747970652d76616c7565032911696d706f72742d747970652d696e707574032a13696d706f72742d747970652d72657175657374032b15696d706f72742d747970652d617474726962757465032c16696d706f72742d747970652d7265736f6c7574696f6e032d18696d706f72742d747970652d6661696c7572652d6b696e64032e13696d706f72742d747970652d6661696c757265032f11696d706f72742d747970652d6572726f72033017696d706f72742d747970652d64657363726970746f7230031814696d706f72742d747970652d7265717565737430031917696d706f72742d747970652d7265736f6c7574696f6e30031a12696d706f72742d747970652d6572726f7230031b0b28010022706f727463756c6c69733a7265736f6c7665722f7265736f6c76657240312e302e3005100000b6210e636f6d706f6e656e742d6e616d6501a00b000023002b696e6469726563742d706f727463756c6c69733a7265736f6c7665722f6c6f6740312e302e302d656d6974012d696e6469726563742d706f727463756c6c69733a7265736f6c7665722f636f6e66696740312e302e302d676574020d7265736f757263652e64726f70030d7265736f757263652e64726f7004165b6d6574686f645d706f6c6c61626c652e626c6f636b050d7265736f757263652e64726f70060d7265736f757263652e64726f700740696e6469726563742d776173693a696f2f73747265616d7340302e322e302d5b6d6574686f645d6f75747075742d73747265616d2e636865636b2d7772697465083a696e6469726563742d776173693a696f2f73747265616d7340302e322e302d5b6d6574686f645d6f75747075742d73747265616d2e77726974650943696e6469726563742d776173693a696f2f73747265616d7340302e322e302d5b6d6574686f645d6f75747075742d73747265616d2e626c6f636b696e672d666c7573680a1f5b6d6574686f645d6f75747075742d73747265616d2e7375627363726962650b0d7265736f757263652e64726f700c0d7265736f757263652e64726f700d33696e6469726563742d776173693a636c692f656e7669726f6e6d656e7440302e322e302d6765742d656e7669726f6e6d656e740e04657869740f096765742d737464696e100a6765742d7374646f7574110a6765742d7374646572721239696e6469726563742d776173693a636c692f7465726d696e616c2d737464696e40302e322e302d6765742d7465726d696e616c2d737464696e133b696e6469726563742d776173693a636c692f7465726d696e616c2d7374646f757440302e322e302d6765742d7465726d696e616c2d7374646f7574143b696e6469726563742d776173693a636c692f7465726d696e616c2d73746465727240302e322e302d6765742d7465726d696e616c2d73746465727215077265616c6c6f63162b696e6469726563742d706f727463756c6c69733a7265736f6c7665722f6c6f6740312e302e302d656d6974172d696e6469726563742d706f727463756c6c69733a7265736f6c7665722f636f6e66696740312e302e302d6765741840696e6469726563742d776173693a696f2f73747265616d7340302e322e302d5b6d6574686f645d6f75747075742d73747265616d2e636865636b2d7772697465193a696e6469726563742d776173693a696f2f73747265616d7340302e322e302d5b6d6574686f645d6f75747075742d73747265616d2e77726974651a43696e6469726563742d776173693a696f2f73747265616d7340302e322e302d5b6d6574686f645d6f75747075742d73747265616d2e626c6f636b696e672d666c7573681b33696e6469726563742d776173693a636c692f656e7669726f6e6d656e7440302e322e302d6765742d656e7669726f6e6d656e741c39696e6469726563742d776173693a636c692f7465726d696e616c2d737464696e40302e322e302d6765742d7465726d696e616c2d737464696e1d3b696e6469726563742d776173693a636c692f7465726d696e616c2d7374646f757440302e322e302d6765742d7465726d696e616c2d7374646f75741e3b696e6469726563742d776173693a636c692f7465726d696e616c2d73746465727240302e322e302d6765742d7465726d696e616c2d7374646572721f2b706f727463756c6c69733a7265736f6c7665722f7265736f6c76657240312e302e302364657363726962652035636162695f706f73745f706f727463756c6c69733a7265736f6c7665722f7265736f6c76657240312e302e30236465736372696265212a706f727463756c6c69733a7265736f6c7665722f7265736f6c76657240312e302e30237265736f6c76652234636162695f706f73745f706f727463756c6c69733a7265736f6c7665722f7265736f6c76657240312e302e30237265736f6c7665010f000101000a7368696d207461626c65010b00020100066d656d6f7279013900110300046d61696e01197769742d636f6d706f6e656e742d7368696d2d6d6f64756c6502137769742d636f6d706f6e656e742d666978757001cd03001213001b7769742d636f6d706f6e656e742d7368696d2d696e7374616e6365011d706f727463756c6c69733a7265736f6c7665722f6c6f6740312e302e300220706f727463756c6c69733a7265736f6c7665722f636f6e66696740312e302e300313776173693a696f2f6572726f7240302e322e300412776173693a696f2f706f6c6c40302e322e300515776173693a696f2f73747265616d7340302e322e30061d776173693a636c692f7465726d696e616c2d696e70757440302e322e30071e776173693a636c692f7465726d696e616c2d6f757470757440302e322e30081a776173693a636c692f656e7669726f6e6d656e7440302e322e300913776173693a636c692f6578697440302e322e300a14776173693a636c692f737464696e40302e322e300b15776173693a636c692f7374646f757440302e322e300c15776173693a636c692f73746465727240302e322e300d1d776173693a636c692f7465726d696e616c2d737464696e40302e322e300e1e776173693a636c692f7465726d696e616c2d7374646f757440302e322e300f1e776173693a636c692f7465726d696e616c2d73746465727240302e322e3010046d61696e110a66697875702d6172677312056669787570018d040512001d706f727463756c6c69733a7265736f6c7665722f6c6f6740312e302e300120706f727463756c6c69733a7265736f6c7665722f636f6e66696740312e302e30021f706f727463756c6c69733a7265736f6c7665722f747970657340312e302e300312776173693a696f2f706f6c6c40302e322e360413776173693a696f2f6572726f7240302e322e360515776173693a696f2f73747265616d7340302e322e36061a776173693a636c692f656e7669726f6e6d656e7440302e322e360713776173693a636c692f6578697440302e322e360814776173693a636c692f737464696e40302e322e360915776173693a636c692f7374646f757440302e322e360a15776173693a636c692f73746465727240302e322e360b1d776173693a636c692f7465726d696e616c2d696e70757440302e322e360c1e776173693a636c692f7465726d696e616c2d6f757470757440302e322e360d1d776173693a636c692f7465726d696e616c2d737464696e40302e322e360e1e776173693a636c692f7465726d696e616c2d7374646f757440302e322e360f1e776173693a636c692f7465726d696e616c2d73746465727240302e322e361030706f727463756c6c69733a7265736f6c7665722f7265736f6c76657240312e302e302d7368696d2d696e7374616e63651122706f727463756c6c69733a7265736f6c7665722f7265736f6c76657240312e302e3001b702011100165b6d6574686f645d706f6c6c61626c652e626c6f636b011f5b6d6574686f645d6f75747075742d73747265616d2e73756273637269626502046578697403096765742d737464696e040a6765742d7374646f7574050a6765742d7374646572720604656d6974070367657408215b6d6574686f645d6f75747075742d73747265616d2e636865636b2d7772697465091b5b6d6574686f645d6f75747075742d73747265616d2e77726974650a245b6d6574686f645d6f75747075742d73747265616d2e626c6f636b696e672d666c7573680b0f6765742d656e7669726f6e6d656e740c126765742d7465726d696e616c2d737464696e0d136765742d7465726d696e616c2d7374646f75740e136765742d7465726d696e616c2d7374646572720f08646573637269626510077265736f6c766501c706032e002074792d706f727463756c6c69733a7265736f6c7665722f6c6f6740312e302e30012374792d706f727463756c6c69733a7265736f6c7665722f636f6e66696740312e302e30022274792d706f727463756c6c69733a7265736f6c7665722f747970657340312e302e30031574792d776173693a696f2f706f6c6c40302e322e36041674792d776173693a696f2f6572726f7240302e322e3605056572726f720608706f6c6c61626c65071874792d776173693a696f2f73747265616d7340302e322e36081d74792d776173693a636c692f656e7669726f6e6d656e7440302e322e36091674792d776173693a636c692f6578697440302e322e360a0c696e7075742d73747265616d0b1774792d776173693a636c692f737464696e40302e322e360c0d6f75747075742d73747265616d0d1874792d776173693a636c692f7374646f757440302e322e360e0d6f75747075742d73747265616d0f1874792d776173693a636c692f73746465727240302e322e36102074792d776173693a636c692f7465726d696e616c2d696e70757440302e322e36112174792d776173693a636c692f7465726d696e616c2d6f757470757440302e322e36120e7465726d696e616c2d696e707574132074792d776173693a636c692f7465726d696e616c2d737464696e40302e322e36140f7465726d696e616c2d6f7574707574152174792d776173693a636c692f7465726d696e616c2d7374646f757440302e322e36160f7465726d696e616c2d6f7574707574172174792d776173693a636c692f7465726d696e616c2d73746465727240302e322e36180a64657363726970746f721907726571756573741a0a7265736f6c7574696f6e1b056572726f721c056572726f721d08706f6c6c61626c651e0c696e7075742d73747265616d1f0d6f75747075742d73747265616d200e7465726d696e616c2d696e707574210f7465726d696e616c2d6f757470757425046b696e64260e6174747269627574652d73706563270a636f6e6669672d6b6579280a64657363726970746f72290576616c75652a05696e7075742b07726571756573742c096174747269627574652d0a7265736f6c7574696f6e2e0c6661696c7572652d6b696e642f076661696c75726530056572726f72013504010031706f727463756c6c69733a7265736f6c7665722f7265736f6c76657240312e302e302d7368696d2d636f6d706f6e656e74018d040512001d706f727463756c6c69733a7265736f6c7665722f6c6f6740312e302e300120706f727463756c6c69733a7265736f6c7665722f636f6e66696740312e302e30021f706f727463756c6c69733a7265736f6c7665722f747970657340312e302e300312776173693a696f2f706f6c6c40302e322e360413776173693a696f2f6572726f7240302e322e360515776173693a696f2f73747265616d7340302e322e36061a776173693a636c692f656e7669726f6e6d656e7440302e322e360713776173693a636c692f6578697440302e322e360814776173693a636c692f737464696e40302e322e360915776173693a636c692f7374646f757440302e322e360a15776173693a636c692f73746465727240302e322e360b1d776173693a636c692f7465726d696e616c2d696e70757440302e322e360c1e776173693a636c692f7465726d696e616c2d6f757470757440302e322e360d1d776173693a636c692f7465726d696e616c2d737464696e40302e322e360e1e776173693a636c692f7465726d696e616c2d7374646f757440302e322e360f1e776173693a636c692f7465726d696e616c2d73746465727240302e322e361030706f727463756c6c69733a7265736f6c7665722f7265736f6c76657240312e302e302d7368696d2d696e7374616e63651122706f727463756c6c69733a7265736f6c7665722f7265736f6c76657240312e302e30002f0970726f647563657273010c70726f6365737365642d6279010d7769742d636f6d706f6e656e7407302e3234352e31');


--
-- Data for Name: resolvers; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.resolvers VALUES ('upgrade', '01a22b43-40e3-7464-8451-7ee15c9e71a1', 'dir', 1, true, '{"namespace":"dir","description":null,"config":{"department":"obstetrics"},"secrets":["token"],"endpoints":{},"allowed_hosts":[],"limits":{"timeout_ms":250,"memory_mib":64},"cache_ttl_ms":null,"stale_if_error_ms":0}', '\x013eb1bd433534a8e44e6c9f8b29cef58634c49c68de973d9e45eded1d62b454f294623c03bceb82f1260fe811716f5ed9cd83', '{"name":"directory","version":"1.0.0","sha256":"8d85815ad0b331a892e9363d6b32bd3e55988b2cc036997be9314389906a4bcc","size":84742,"imports":["portcullis:resolver/log@1.0.0","portcullis:resolver/config@1.0.0","portcullis:resolver/types@1.0.0","wasi:io/poll@0.2.6","wasi:io/error@0.2.6","wasi:io/streams@0.2.6","wasi:cli/environment@0.2.6","wasi:cli/exit@0.2.6","wasi:cli/stdin@0.2.6","wasi:cli/stdout@0.2.6","wasi:cli/stderr@0.2.6","wasi:cli/terminal-input@0.2.6","wasi:cli/terminal-output@0.2.6","wasi:cli/terminal-stdin@0.2.6","wasi:cli/terminal-stdout@0.2.6","wasi:cli/terminal-stderr@0.2.6"],"attributes":[{"name":"department","kind":"text","default_ttl_ms":60000},{"name":"manager","kind":"boolean","default_ttl_ms":1000}],"inputs":["subject","roles"],"config_keys":[{"name":"department","required":true}],"endpoints":[]}', '8d85815ad0b331a892e9363d6b32bd3e55988b2cc036997be9314389906a4bcc', 'boss', 1796022157539, NULL, NULL, NULL);


--
-- Data for Name: resources; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.resources VALUES ('upgrade', '01a22b43-07d0-719a-b64c-eb96f49ccb74', 'chart:read', 'chart', 'read', 'Read a chart', NULL, '["editor"]', 1796022142928, NULL, NULL);
INSERT INTO public.resources VALUES ('upgrade', '01a22b43-085b-77c9-b1bb-62840bc7f070', 'invoice:read', 'invoice', 'read', NULL, 'bills', '[]', 1796022143067, NULL, NULL);


--
-- Data for Name: revision_changes; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.revision_changes VALUES ('upgrade', 'resource', '01a22b43-07d0-719a-b64c-eb96f49ccb74', 1, NULL, '\x84e6d4153b9c3a274fc6e7deeda2708f1d0a6a691caf4d2f28e01683359a793b');
INSERT INTO public.revision_changes VALUES ('upgrade', 'rule', '01a22b43-07d0-719a-b64c-eb972232c8fb', 1, NULL, '\x3f9658a6d91dffbeaea8c048411d71ba109d142073524f3d6284a358a6cbbc10');
INSERT INTO public.revision_changes VALUES ('upgrade', 'resource', '01a22b43-085b-77c9-b1bb-62840bc7f070', 2, NULL, '\xabdd4e6364dc1f06e0c78359dd86285603268b70ffa36160984f26607e0c9c05');
INSERT INTO public.revision_changes VALUES ('upgrade', 'rule', '01a22b43-08c8-7548-ac63-91349000c646', 3, NULL, '\x010dd628025433903e68c6b9304061e0de0fa66779783d27f8e6c19d95454e41');
INSERT INTO public.revision_changes VALUES ('upgrade', 'rule', '01a22b43-09d2-7280-a399-98be6594296c', 4, NULL, '\xf13705c7120b1294c80174e590dc2f0ed1291558ccbd310d83cf0306243c42bb');
INSERT INTO public.revision_changes VALUES ('upgrade', 'rule', '01a22b43-0a57-73cf-937f-6a1f03082673', 5, NULL, '\xadb5edc089351d9c1dce92715bb53e7f7dea267618cf925303aa4dfb65aac306');
INSERT INTO public.revision_changes VALUES ('upgrade', 'rule', '01a22b43-0ab2-739c-9db0-06ea68732a19', 6, NULL, '\xf634919d71fa0080794b83f400d4a752aff5156849580bb4cb0e90b061f08a94');
INSERT INTO public.revision_changes VALUES ('upgrade', 'policy', '01a22b43-0b16-7226-8b56-a08165159251', 7, NULL, '\xcee31df80514490268bcf1881e6fad5a0d83787a6ece5612cd5f51480b0df141');
INSERT INTO public.revision_changes VALUES ('upgrade', 'policy', '01a22b43-0b78-752a-93ea-35b6b41f3234', 8, NULL, '\xefac33806dd8f4f9e55fd5e6e3b736c84d559d03e015206e7fbdba60f019b1c3');
INSERT INTO public.revision_changes VALUES ('upgrade', 'policy', '01a22b43-0c05-7355-af80-16a5fd445972', 9, NULL, '\x12be3443afbdf4bd16babe7cb70fbf92af1b9c74d9890448d891a35dcb45c867');
INSERT INTO public.revision_changes VALUES ('upgrade', 'policy', '01a22b43-0c70-7430-9598-02f86f1d4baa', 10, NULL, '\x3d1bccfbf2d96e83742c92a961a0eec257b54b870da3f9788ea28819ae8e2f63');
INSERT INTO public.revision_changes VALUES ('upgrade', 'resolver', '01a22b43-40e3-7464-8451-7ee15c9e71a1', 11, NULL, '\x0a63d79deb00d657eff0231e75de6a9465fd4b643556391d0b4ce7dc01fa92bd');
INSERT INTO public.revision_changes VALUES ('upgrade', 'type', 'sheet', 12, NULL, '\x9867a6131e64cc3d602e111218701e08840522e1c8537d6704e83dccc740c626');
INSERT INTO public.revision_changes VALUES ('upgrade', 'role', 'senior', 13, NULL, '\x9092884db2f6db8a93f9cab60e89969380ce4632602ddef05ec262bec215fa9a');
INSERT INTO public.revision_changes VALUES ('upgrade', 'settings', 'upgrade', 15, NULL, '\xb965821edfb26dfda650bced98d67807c83b15e9ebf51046c6d8170d46754b28');


--
-- Data for Name: revision_values; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.revision_values VALUES ('upgrade', '\x3f9658a6d91dffbeaea8c048411d71ba109d142073524f3d6284a358a6cbbc10', 1, '{"id":"01a22b43-07d0-719a-b64c-eb972232c8fb","sub":"editor","dom":"upgrade","obj":"chart:read","act":"read","effect":"allow","origin":"default_role","created_by":"boss","created_at":"2026-11-30T07:02:22.928Z","updated_by":null,"updated_at":null,"managed_by":null}');
INSERT INTO public.revision_values VALUES ('upgrade', '\x84e6d4153b9c3a274fc6e7deeda2708f1d0a6a691caf4d2f28e01683359a793b', 1, '{"id":"01a22b43-07d0-719a-b64c-eb96f49ccb74","tenant_id":"upgrade","name":"chart:read","displayName":"Read a chart","serviceName":null,"defaultRoles":["editor"],"created_at":"2026-11-30T07:02:22.928Z","updated_at":null,"managed_by":null}');
INSERT INTO public.revision_values VALUES ('upgrade', '\xabdd4e6364dc1f06e0c78359dd86285603268b70ffa36160984f26607e0c9c05', 2, '{"id":"01a22b43-085b-77c9-b1bb-62840bc7f070","tenant_id":"upgrade","name":"invoice:read","displayName":null,"serviceName":"bills","defaultRoles":[],"created_at":"2026-11-30T07:02:23.067Z","updated_at":null,"managed_by":null}');
INSERT INTO public.revision_values VALUES ('upgrade', '\x010dd628025433903e68c6b9304061e0de0fa66779783d27f8e6c19d95454e41', 3, '{"id":"01a22b43-08c8-7548-ac63-91349000c646","sub":"alice","dom":"upgrade","obj":"chart:read","act":"read","effect":"allow","origin":"explicit","created_by":"boss","created_at":"2026-11-30T07:02:23.176Z","updated_by":null,"updated_at":null,"managed_by":null}');
INSERT INTO public.revision_values VALUES ('upgrade', '\xf13705c7120b1294c80174e590dc2f0ed1291558ccbd310d83cf0306243c42bb', 4, '{"id":"01a22b43-09d2-7280-a399-98be6594296c","sub":"*","dom":"upgrade","obj":"chart:write","act":"delete","effect":"deny","origin":"explicit","created_by":"boss","created_at":"2026-11-30T07:02:23.442Z","updated_by":null,"updated_at":null,"managed_by":null}');
INSERT INTO public.revision_values VALUES ('upgrade', '\xadb5edc089351d9c1dce92715bb53e7f7dea267618cf925303aa4dfb65aac306', 5, '{"id":"01a22b43-0a57-73cf-937f-6a1f03082673","sub":"bob","dom":"upgrade","obj":"*","act":"*","effect":"allow","origin":"explicit","created_by":"boss","created_at":"2026-11-30T07:02:23.575Z","updated_by":null,"updated_at":null,"managed_by":null}');
INSERT INTO public.revision_values VALUES ('upgrade', '\xf634919d71fa0080794b83f400d4a752aff5156849580bb4cb0e90b061f08a94', 6, '{"id":"01a22b43-0ab2-739c-9db0-06ea68732a19","sub":"carol","dom":"upgrade","obj":"invoice:*","act":"*","effect":"allow","origin":"explicit","created_by":"boss","created_at":"2026-11-30T07:02:23.666Z","updated_by":null,"updated_at":null,"managed_by":null}');
INSERT INTO public.revision_values VALUES ('upgrade', '\xcee31df80514490268bcf1881e6fad5a0d83787a6ece5612cd5f51480b0df141', 7, '{"id":"01a22b43-0b16-7226-8b56-a08165159251","tenant_id":"upgrade","name":"always","description":null,"resource":"report:read","effect":"allow","format":"json","rule_data":{"type":"CONDITION","attribute":"request.subject","operator":"exists"},"priority":1,"enabled":true,"created_by":"boss","created_at":"2026-11-30T07:02:23.766Z","updated_by":null,"updated_at":null,"managed_by":null}');
INSERT INTO public.revision_values VALUES ('upgrade', '\xefac33806dd8f4f9e55fd5e6e3b736c84d559d03e015206e7fbdba60f019b1c3', 8, '{"id":"01a22b43-0b78-752a-93ea-35b6b41f3234","tenant_id":"upgrade","name":"owner","description":null,"resource":"chart:write","effect":"allow","format":"json","rule_data":{"type":"CONDITION","attribute":"resource.owner","operator":"eq","value":"alice"},"priority":5,"enabled":true,"created_by":"boss","created_at":"2026-11-30T07:02:23.864Z","updated_by":null,"updated_at":null,"managed_by":null}');
INSERT INTO public.revision_values VALUES ('upgrade', '\x12be3443afbdf4bd16babe7cb70fbf92af1b9c74d9890448d891a35dcb45c867', 9, '{"id":"01a22b43-0c05-7355-af80-16a5fd445972","tenant_id":"upgrade","name":"outside","description":null,"resource":"report:read","effect":"deny","format":"json","rule_data":{"type":"AND","children":[{"type":"CONDITION","attribute":"user.level","operator":"gte","value":5},{"type":"NOT","child":{"type":"CONDITION","attribute":"resource.network","operator":"ip_in","value":["10.0.0.0/8"]}}]},"priority":10,"enabled":true,"created_by":"boss","created_at":"2026-11-30T07:02:24.005Z","updated_by":null,"updated_at":null,"managed_by":null}');
INSERT INTO public.revision_values VALUES ('upgrade', '\x3d1bccfbf2d96e83742c92a961a0eec257b54b870da3f9788ea28819ae8e2f63', 10, '{"id":"01a22b43-0c70-7430-9598-02f86f1d4baa","tenant_id":"upgrade","name":"unknown","description":null,"resource":"invoice:*","effect":"deny","format":"json","rule_data":{"type":"OR","children":[{"type":"CONDITION","attribute":"request.subject","operator":"matches","value":"^mal"},{"type":"CONDITION","attribute":"resource.missing","operator":"eq","value":"x"}]},"priority":3,"enabled":true,"created_by":"boss","created_at":"2026-11-30T07:02:24.112Z","updated_by":null,"updated_at":null,"managed_by":null}');
INSERT INTO public.revision_values VALUES ('upgrade', '\x0a63d79deb00d657eff0231e75de6a9465fd4b643556391d0b4ce7dc01fa92bd', 11, '{"id":"01a22b43-40e3-7464-8451-7ee15c9e71a1","tenant_id":"upgrade","manifest":{"namespace":"dir","description":null,"config":{"department":"obstetrics"},"secrets":["token"],"endpoints":{},"allowed_hosts":[],"limits":{"timeout_ms":250,"memory_mib":64},"cache_ttl_ms":null,"stale_if_error_ms":0},"enabled":true,"version":1,"module":{"name":"directory","version":"1.0.0","sha256":"8d85815ad0b331a892e9363d6b32bd3e55988b2cc036997be9314389906a4bcc","size":84742,"imports":["portcullis:resolver/log@1.0.0","portcullis:resolver/config@1.0.0","portcullis:resolver/types@1.0.0","wasi:io/poll@0.2.6","wasi:io/error@0.2.6","wasi:io/streams@0.2.6","wasi:cli/environment@0.2.6","wasi:cli/exit@0.2.6","wasi:cli/stdin@0.2.6","wasi:cli/stdout@0.2.6","wasi:cli/stderr@0.2.6","wasi:cli/terminal-input@0.2.6","wasi:cli/terminal-output@0.2.6","wasi:cli/terminal-stdin@0.2.6","wasi:cli/terminal-stdout@0.2.6","wasi:cli/terminal-stderr@0.2.6"],"attributes":[{"name":"department","kind":"text","default_ttl_ms":60000},{"name":"manager","kind":"boolean","default_ttl_ms":1000}],"inputs":["subject","roles"],"config_keys":[{"name":"department","required":true}],"endpoints":[]},"created_by":"boss","created_at":"2026-11-30T07:02:37.539Z","updated_by":null,"updated_at":null,"managed_by":null}');
INSERT INTO public.revision_values VALUES ('upgrade', '\x9867a6131e64cc3d602e111218701e08840522e1c8537d6704e83dccc740c626', 12, '{"type":"sheet","about":null,"properties":{"owner":{"type":"text"}},"relations":{"viewer":"[user]"},"created_by":"boss","created_at":"2026-11-30T07:02:37.681Z","updated_by":null,"updated_at":null,"managed_by":null}');
INSERT INTO public.revision_values VALUES ('upgrade', '\x9092884db2f6db8a93f9cab60e89969380ce4632602ddef05ec262bec215fa9a', 13, '{"name":"senior","includes":["editor"],"created_by":"boss","created_at":"2026-11-30T07:02:37.782Z","updated_by":null,"updated_at":null,"managed_by":null}');
INSERT INTO public.revision_values VALUES ('upgrade', '\xb965821edfb26dfda650bced98d67807c83b15e9ebf51046c6d8170d46754b28', 15, '{"gates":{"cases":false,"approval":false},"max_deletes":20,"owners":{},"directory_wins":false,"decision_log":{"mode":"durable","keep":"3650d"}}');


--
-- Data for Name: revisions; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.revisions VALUES ('upgrade', 1, 1796022142928, 'boss', 'token', NULL, NULL, 'api', NULL, '01a22b43-07c6-7db3-9137-9901eee630d6', 2, 1268);
INSERT INTO public.revisions VALUES ('upgrade', 2, 1796022143067, 'boss', 'token', NULL, NULL, 'api', NULL, '01a22b43-085b-7d17-b979-b024bf781af9', 1, 736);
INSERT INTO public.revisions VALUES ('upgrade', 3, 1796022143176, 'boss', 'token', NULL, NULL, 'api', NULL, '01a22b43-08c7-79cd-ac26-0a28554911ba', 1, 770);
INSERT INTO public.revisions VALUES ('upgrade', 4, 1796022143442, 'boss', 'token', NULL, NULL, 'api', NULL, '01a22b43-09d0-721d-b9a8-bfbd1323ce98', 1, 768);
INSERT INTO public.revisions VALUES ('upgrade', 5, 1796022143575, 'boss', 'token', NULL, NULL, 'api', NULL, '01a22b43-0a51-786e-8d5f-2382ba94ac34', 1, 756);
INSERT INTO public.revisions VALUES ('upgrade', 6, 1796022143666, 'boss', 'token', NULL, NULL, 'api', NULL, '01a22b43-0ab1-733c-928f-8719a5af595f', 1, 766);
INSERT INTO public.revisions VALUES ('upgrade', 7, 1796022143766, 'boss', 'token', NULL, NULL, 'api', NULL, '01a22b43-0b12-726f-81d6-2676aebd3dca', 1, 897);
INSERT INTO public.revisions VALUES ('upgrade', 8, 1796022143864, 'boss', 'token', NULL, NULL, 'api', NULL, '01a22b43-0b6c-74b6-bf00-336d29863a00', 1, 907);
INSERT INTO public.revisions VALUES ('upgrade', 9, 1796022144005, 'boss', 'token', NULL, NULL, 'api', NULL, '01a22b43-0c04-7e39-a42f-9f8ba391314e', 1, 1045);
INSERT INTO public.revisions VALUES ('upgrade', 10, 1796022144112, 'boss', 'token', NULL, NULL, 'api', NULL, '01a22b43-0c6e-78af-8c57-53b35ebd5b22', 1, 1018);
INSERT INTO public.revisions VALUES ('upgrade', 11, 1796022157539, 'boss', 'token', NULL, NULL, 'api', NULL, '01a22b43-0ee8-7126-9cc2-c504e566dd19', 1, 1779);
INSERT INTO public.revisions VALUES ('upgrade', 12, 1796022157681, 'boss', 'token', NULL, NULL, 'api', NULL, '01a22b43-416e-7d9f-89c2-ec734c66aa2b', 1, 726);
INSERT INTO public.revisions VALUES ('upgrade', 13, 1796022157782, 'boss', 'token', NULL, NULL, 'api', NULL, '01a22b43-41cd-7b36-9b83-fdee8f8846ac', 1, 665);
INSERT INTO public.revisions VALUES ('upgrade', 14, 1796022157835, 'boss', 'token', NULL, NULL, 'api', NULL, '01a22b43-420a-7703-9e10-688806f21957', 0, 256);
INSERT INTO public.revisions VALUES ('upgrade', 15, 1796022158014, 'boss', 'token', NULL, NULL, 'apply', NULL, '01a22b43-42ae-7d6a-9b9a-d98ec9626c9b', 1, 655);


--
-- Data for Name: roles; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.roles VALUES ('upgrade', 'senior', '["editor"]', 'boss', 1796022157782, NULL, NULL, NULL);


--
-- Data for Name: service_keys; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.service_keys VALUES ('01a22b42-f849-70b5-82f1-022d5182eb96', '01a22b42-f849-70b5-82f1-022ee1d2bbcd', 'bootstrap', NULL, NULL, '\x258e45cf5b0a0b1d9cc3bf8ea9b3d1ca7bfd5785794b06568a02d4e5cc3b5988', '["resources:read","resources:write","policies:read","policies:write","webhooks:read","webhooks:write","resolvers:read","resolvers:write"]', 'admin', 1796022138953, NULL, NULL);
INSERT INTO public.service_keys VALUES ('upgrade', '01a22b43-0ca4-7785-a0b4-b05865416536', 'deploy', NULL, NULL, '\xc79168ed9249e17caf35a419a7556b122913a85c6cf3f716bb5e4b0dfb8b6dd1', '["policies:read"]', 'boss', 1796022144164, NULL, NULL);


--
-- Data for Name: tenant_cases; Type: TABLE DATA; Schema: public; Owner: portcullis
--



--
-- Data for Name: tenant_settings; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.tenant_settings VALUES ('upgrade', '{"gates":{"cases":false,"approval":false},"max_deletes":20,"owners":{},"directory_wins":false,"decision_log":{"mode":"durable","keep":"3650d"}}', 'boss', 1796022158014);


--
-- Data for Name: tenants; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.tenants VALUES ('01a22b42-f849-70b5-82f1-022d5182eb96', 'Somebody', 'acme', 1796022138953, NULL, NULL, NULL, 0, '', 0, '', 0, 0, 0, 738, 738, false, false, false, 0, 0, 0, 0, 1, 0, 0, 0, 0);
INSERT INTO public.tenants VALUES ('upgrade', NULL, NULL, 1796022142853, NULL, NULL, NULL, 15, '287a0f5098c57236f780e55c789375938897b4a4740a07c363c4b7b7c0e8062bd33e145b777c423a16cae3ace57547f45608b3f7291a0c7cfa558467184b786fcb87b19cf7ca64c0a3101f89db7e22881b5efffa32c94dc0c92ea069819fc9ff80cbc84f0bc3814a5d0fb7ecfbb79a64cae9528cb8deea37', 3, 'f6cdf5604749047286f573e81ae0e46c5ad2114dd29fbf14', 0, 0, 1, 783, 773, false, false, false, 1, 4, 5, 2, 1, 1, 2, 1, 86909);


--
-- Data for Name: types; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.types VALUES ('upgrade', 'sheet', '{"properties":{"owner":{"type":"text"}}}', '{}', '{"viewer":[1,"[user]"]}', 'boss', 1796022157681, NULL, NULL, NULL);


--
-- Data for Name: webhook_attempts; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.webhook_attempts VALUES ('upgrade', '01a22b43-08bb-7798-9fa6-c186270cf86e', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-07d0-71f1-80c5-5cf04bf8504b', 0, 200, 'heard', NULL, 4, 'delivered', 1796022143163, NULL);
INSERT INTO public.webhook_attempts VALUES ('upgrade', '01a22b43-091f-73e1-b86d-dd21c3f08017', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-07d0-71f1-80c5-5cf249558f72', 0, 200, 'heard', NULL, 5, 'delivered', 1796022143263, NULL);
INSERT INTO public.webhook_attempts VALUES ('upgrade', '01a22b43-0957-73c6-bb13-3bbf8bb15dc9', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-085b-72fe-91d5-7772685cd436', 0, 200, 'heard', NULL, 1, 'delivered', 1796022143319, NULL);
INSERT INTO public.webhook_attempts VALUES ('upgrade', '01a22b43-09db-7005-b55f-056302a9b959', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-08c8-7506-86d3-47bd8602eb45', 0, 200, 'heard', NULL, 9, 'delivered', 1796022143451, NULL);
INSERT INTO public.webhook_attempts VALUES ('upgrade', '01a22b43-0a6b-760a-94b6-b022e77f5ed7', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-09d2-74b7-9e4e-467f3c3f664a', 0, 200, 'heard', NULL, 3, 'delivered', 1796022143595, NULL);
INSERT INTO public.webhook_attempts VALUES ('upgrade', '01a22b43-0ac3-7087-8fd8-96399cc2be4c', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-0a57-72bc-914e-49efdead29c5', 0, 200, 'heard', NULL, 12, 'delivered', 1796022143683, NULL);
INSERT INTO public.webhook_attempts VALUES ('upgrade', '01a22b43-0b14-74f4-8c13-a05f4cd204a3', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-0ab2-7691-b13b-a7c3f21ad150', 0, 200, 'heard', NULL, 20, 'delivered', 1796022143764, NULL);
INSERT INTO public.webhook_attempts VALUES ('upgrade', '01a22b43-0b9f-763d-b8b2-8fbca5bec9f0', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-0b16-71ee-bcfa-be630516aea4', 0, 200, 'heard', NULL, 8, 'delivered', 1796022143903, NULL);
INSERT INTO public.webhook_attempts VALUES ('upgrade', '01a22b43-0c12-746a-ba2d-6771ab11086f', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-0b78-756b-a7d6-36b756c13dd7', 0, 200, 'heard', NULL, 21, 'delivered', 1796022144018, NULL);
INSERT INTO public.webhook_attempts VALUES ('upgrade', '01a22b43-0c87-76e3-b4d4-2b0c9fc0ddb7', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-0c05-739f-a8b2-1e8bd0e32b5d', 0, 200, 'heard', NULL, 4, 'delivered', 1796022144135, NULL);
INSERT INTO public.webhook_attempts VALUES ('upgrade', '01a22b43-0ca7-7192-9925-89331efe021a', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-0c70-7577-9289-71dc9006d440', 0, 200, 'heard', NULL, 4, 'delivered', 1796022144167, NULL);
INSERT INTO public.webhook_attempts VALUES ('upgrade', '01a22b43-0d47-74f4-b868-74430c5548db', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-0ca4-7701-ac7f-8bf0f62096b8', 0, 200, 'heard', NULL, 4, 'delivered', 1796022144327, NULL);
INSERT INTO public.webhook_attempts VALUES ('upgrade', '01a22b43-0d7f-7429-b57f-6a8145c0302a', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-0d04-764c-82c1-4613720a123a', 0, 200, 'heard', NULL, 7, 'delivered', 1796022144383, NULL);
INSERT INTO public.webhook_attempts VALUES ('upgrade', '01a22b43-0dab-70b4-8c01-60ff0547f815', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-0d4d-769c-8da6-f12bfa053c85', 0, 200, 'heard', NULL, 14, 'delivered', 1796022144427, NULL);


--
-- Data for Name: webhook_deliveries; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.webhook_deliveries VALUES ('upgrade', '01a22b43-07d0-71f1-80c5-5cf04bf8504b', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-07d0-71f1-80c5-5cef076edf13', false, NULL, 0, 0, 0, 1796022143167);
INSERT INTO public.webhook_deliveries VALUES ('upgrade', '01a22b43-07d0-71f1-80c5-5cf249558f72', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-07d0-71f1-80c5-5cf192434315', false, NULL, 0, 0, 0, 1796022143269);
INSERT INTO public.webhook_deliveries VALUES ('upgrade', '01a22b43-085b-72fe-91d5-7772685cd436', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-085b-72fe-91d5-7771e7454177', false, NULL, 0, 0, 0, 1796022143321);
INSERT INTO public.webhook_deliveries VALUES ('upgrade', '01a22b43-08c8-7506-86d3-47bd8602eb45', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-08c8-7506-86d3-47bc880b1a14', false, NULL, 0, 0, 0, 1796022143461);
INSERT INTO public.webhook_deliveries VALUES ('upgrade', '01a22b43-09d2-74b7-9e4e-467f3c3f664a', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-09d2-74b7-9e4e-467e15e30828', false, NULL, 0, 0, 0, 1796022143599);
INSERT INTO public.webhook_deliveries VALUES ('upgrade', '01a22b43-0a57-72bc-914e-49efdead29c5', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-0a57-72bc-914e-49ee62cda965', false, NULL, 0, 0, 0, 1796022143695);
INSERT INTO public.webhook_deliveries VALUES ('upgrade', '01a22b43-0ab2-7691-b13b-a7c3f21ad150', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-0ab2-7691-b13b-a7c297c2421f', false, NULL, 0, 0, 0, 1796022143784);
INSERT INTO public.webhook_deliveries VALUES ('upgrade', '01a22b43-0b16-71ee-bcfa-be630516aea4', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-0b16-71ee-bcfa-be624b972ea8', false, NULL, 0, 0, 0, 1796022143912);
INSERT INTO public.webhook_deliveries VALUES ('upgrade', '01a22b43-0b78-756b-a7d6-36b756c13dd7', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-0b78-756b-a7d6-36b697bd9f0b', false, NULL, 0, 0, 0, 1796022144039);
INSERT INTO public.webhook_deliveries VALUES ('upgrade', '01a22b43-0c05-739f-a8b2-1e8bd0e32b5d', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-0c05-739f-a8b2-1e8a84a17cf8', false, NULL, 0, 0, 0, 1796022144139);
INSERT INTO public.webhook_deliveries VALUES ('upgrade', '01a22b43-0c70-7577-9289-71dc9006d440', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-0c70-7577-9289-71dbbc74cd0f', false, NULL, 0, 0, 0, 1796022144172);
INSERT INTO public.webhook_deliveries VALUES ('upgrade', '01a22b43-0ca4-7701-ac7f-8bf0f62096b8', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-0ca4-7701-ac7f-8befea95368a', false, NULL, 0, 0, 0, 1796022144331);
INSERT INTO public.webhook_deliveries VALUES ('upgrade', '01a22b43-0d04-764c-82c1-4613720a123a', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-0d04-764c-82c1-4612f39ccbe7', false, NULL, 0, 0, 0, 1796022144391);
INSERT INTO public.webhook_deliveries VALUES ('upgrade', '01a22b43-0d4d-769c-8da6-f12bfa053c85', '01a22b43-0785-765e-bd23-760e9c358a3d', '01a22b43-0d4d-769c-8da6-f12ae62e2c49', false, NULL, 0, 0, 0, 1796022144442);


--
-- Data for Name: webhook_events; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.webhook_events VALUES ('upgrade', '01a22b43-07d0-71f1-80c5-5cef076edf13', 'resource.registered', '\x7b226964223a2230316132326234332d303764302d373166312d383063352d356365663037366564663133222c2274797065223a227265736f757263652e72656769737465726564222c2274656e616e745f6964223a2275706772616465222c2274696d657374616d70223a22323032362d31312d33305430373a30323a32322e3932385a222c2264617461223a7b227265736f757263655f6964223a2230316132326234332d303764302d373139612d623634632d656239366634396363623734222c226e616d65223a2263686172743a72656164222c22736572766963655f6e616d65223a6e756c6c2c2264656661756c745f726f6c6573223a5b22656469746f72225d2c2263726561746564223a747275652c226163746f72223a22626f7373227d7d', 1796022142928);
INSERT INTO public.webhook_events VALUES ('upgrade', '01a22b43-07d0-71f1-80c5-5cf192434315', 'policy.rbac.changed', '\x7b226964223a2230316132326234332d303764302d373166312d383063352d356366313932343334333135222c2274797065223a22706f6c6963792e726261632e6368616e676564222c2274656e616e745f6964223a2275706772616465222c2274696d657374616d70223a22323032362d31312d33305430373a30323a32322e3932385a222c2264617461223a7b226368616e6765223a2263726561746564222c2272756c655f6964223a2230316132326234332d303764302d373139612d623634632d656239373232333263386662222c22737562223a22656469746f72222c22646f6d223a2275706772616465222c226f626a223a2263686172743a72656164222c22616374223a2272656164222c22656666656374223a22616c6c6f77222c226163746f72223a22626f7373227d7d', 1796022142928);
INSERT INTO public.webhook_events VALUES ('upgrade', '01a22b43-085b-72fe-91d5-7771e7454177', 'resource.registered', '\x7b226964223a2230316132326234332d303835622d373266652d393164352d373737316537343534313737222c2274797065223a227265736f757263652e72656769737465726564222c2274656e616e745f6964223a2275706772616465222c2274696d657374616d70223a22323032362d31312d33305430373a30323a32332e3036375a222c2264617461223a7b227265736f757263655f6964223a2230316132326234332d303835622d373763392d623162622d363238343062633766303730222c226e616d65223a22696e766f6963653a72656164222c22736572766963655f6e616d65223a2262696c6c73222c2264656661756c745f726f6c6573223a5b5d2c2263726561746564223a747275652c226163746f72223a22626f7373227d7d', 1796022143067);
INSERT INTO public.webhook_events VALUES ('upgrade', '01a22b43-08c8-7506-86d3-47bc880b1a14', 'policy.rbac.changed', '\x7b226964223a2230316132326234332d303863382d373530362d383664332d343762633838306231613134222c2274797065223a22706f6c6963792e726261632e6368616e676564222c2274656e616e745f6964223a2275706772616465222c2274696d657374616d70223a22323032362d31312d33305430373a30323a32332e3137365a222c2264617461223a7b226368616e6765223a2263726561746564222c2272756c655f6964223a2230316132326234332d303863382d373534382d616336332d393133343930303063363436222c22737562223a22616c696365222c22646f6d223a2275706772616465222c226f626a223a2263686172743a72656164222c22616374223a2272656164222c22656666656374223a22616c6c6f77222c226163746f72223a22626f7373227d7d', 1796022143176);
INSERT INTO public.webhook_events VALUES ('upgrade', '01a22b43-09d2-74b7-9e4e-467e15e30828', 'policy.rbac.changed', '\x7b226964223a2230316132326234332d303964322d373462372d396534652d343637653135653330383238222c2274797065223a22706f6c6963792e726261632e6368616e676564222c2274656e616e745f6964223a2275706772616465222c2274696d657374616d70223a22323032362d31312d33305430373a30323a32332e3434325a222c2264617461223a7b226368616e6765223a2263726561746564222c2272756c655f6964223a2230316132326234332d303964322d373238302d613339392d393862653635393432393663222c22737562223a222a222c22646f6d223a2275706772616465222c226f626a223a2263686172743a7772697465222c22616374223a2264656c657465222c22656666656374223a2264656e79222c226163746f72223a22626f7373227d7d', 1796022143442);
INSERT INTO public.webhook_events VALUES ('upgrade', '01a22b43-0a57-72bc-914e-49ee62cda965', 'policy.rbac.changed', '\x7b226964223a2230316132326234332d306135372d373262632d393134652d343965653632636461393635222c2274797065223a22706f6c6963792e726261632e6368616e676564222c2274656e616e745f6964223a2275706772616465222c2274696d657374616d70223a22323032362d31312d33305430373a30323a32332e3537355a222c2264617461223a7b226368616e6765223a2263726561746564222c2272756c655f6964223a2230316132326234332d306135372d373363662d393337662d366131663033303832363733222c22737562223a22626f62222c22646f6d223a2275706772616465222c226f626a223a222a222c22616374223a222a222c22656666656374223a22616c6c6f77222c226163746f72223a22626f7373227d7d', 1796022143575);
INSERT INTO public.webhook_events VALUES ('upgrade', '01a22b43-0ab2-7691-b13b-a7c297c2421f', 'policy.rbac.changed', '\x7b226964223a2230316132326234332d306162322d373639312d623133622d613763323937633234323166222c2274797065223a22706f6c6963792e726261632e6368616e676564222c2274656e616e745f6964223a2275706772616465222c2274696d657374616d70223a22323032362d31312d33305430373a30323a32332e3636365a222c2264617461223a7b226368616e6765223a2263726561746564222c2272756c655f6964223a2230316132326234332d306162322d373339632d396462302d303665613638373332613139222c22737562223a226361726f6c222c22646f6d223a2275706772616465222c226f626a223a22696e766f6963653a2a222c22616374223a222a222c22656666656374223a22616c6c6f77222c226163746f72223a22626f7373227d7d', 1796022143666);
INSERT INTO public.webhook_events VALUES ('upgrade', '01a22b43-0b16-71ee-bcfa-be624b972ea8', 'policy.abac.created', '\x7b226964223a2230316132326234332d306231362d373165652d626366612d626536323462393732656138222c2274797065223a22706f6c6963792e616261632e63726561746564222c2274656e616e745f6964223a2275706772616465222c2274696d657374616d70223a22323032362d31312d33305430373a30323a32332e3736365a222c2264617461223a7b22706f6c6963795f6964223a2230316132326234332d306231362d373232362d386235362d613038313635313539323531222c227265736f75726365223a227265706f72743a72656164222c22656666656374223a22616c6c6f77222c22637265617465645f6279223a22626f7373227d7d', 1796022143766);
INSERT INTO public.webhook_events VALUES ('upgrade', '01a22b43-0b78-756b-a7d6-36b697bd9f0b', 'policy.abac.created', '\x7b226964223a2230316132326234332d306237382d373536622d613764362d333662363937626439663062222c2274797065223a22706f6c6963792e616261632e63726561746564222c2274656e616e745f6964223a2275706772616465222c2274696d657374616d70223a22323032362d31312d33305430373a30323a32332e3836345a222c2264617461223a7b22706f6c6963795f6964223a2230316132326234332d306237382d373532612d393365612d333562366234316633323334222c227265736f75726365223a2263686172743a7772697465222c22656666656374223a22616c6c6f77222c22637265617465645f6279223a22626f7373227d7d', 1796022143864);
INSERT INTO public.webhook_events VALUES ('upgrade', '01a22b43-0c05-739f-a8b2-1e8a84a17cf8', 'policy.abac.created', '\x7b226964223a2230316132326234332d306330352d373339662d613862322d316538613834613137636638222c2274797065223a22706f6c6963792e616261632e63726561746564222c2274656e616e745f6964223a2275706772616465222c2274696d657374616d70223a22323032362d31312d33305430373a30323a32342e3030355a222c2264617461223a7b22706f6c6963795f6964223a2230316132326234332d306330352d373335352d616638302d313661356664343435393732222c227265736f75726365223a227265706f72743a72656164222c22656666656374223a2264656e79222c22637265617465645f6279223a22626f7373227d7d', 1796022144005);
INSERT INTO public.webhook_events VALUES ('upgrade', '01a22b43-0c70-7577-9289-71dbbc74cd0f', 'policy.abac.created', '\x7b226964223a2230316132326234332d306337302d373537372d393238392d373164626263373463643066222c2274797065223a22706f6c6963792e616261632e63726561746564222c2274656e616e745f6964223a2275706772616465222c2274696d657374616d70223a22323032362d31312d33305430373a30323a32342e3131325a222c2264617461223a7b22706f6c6963795f6964223a2230316132326234332d306337302d373433302d393539382d303266383666316434626161222c227265736f75726365223a22696e766f6963653a2a222c22656666656374223a2264656e79222c22637265617465645f6279223a22626f7373227d7d', 1796022144112);
INSERT INTO public.webhook_events VALUES ('upgrade', '01a22b43-0ca4-7701-ac7f-8befea95368a', 'service_api_key.created', '\x7b226964223a2230316132326234332d306361342d373730312d616337662d386265666561393533363861222c2274797065223a22736572766963655f6170695f6b65792e63726561746564222c2274656e616e745f6964223a2275706772616465222c2274696d657374616d70223a22323032362d31312d33305430373a30323a32342e3136345a222c2264617461223a7b226b65795f6964223a2230316132326234332d306361342d373738352d613062342d623035383635343136353336222c226e616d65223a226465706c6f79222c226163746f72223a22626f7373227d7d', 1796022144164);
INSERT INTO public.webhook_events VALUES ('upgrade', '01a22b43-0d04-764c-82c1-4612f39ccbe7', 'service_api_key.created', '\x7b226964223a2230316132326234332d306430342d373634632d383263312d343631326633396363626537222c2274797065223a22736572766963655f6170695f6b65792e63726561746564222c2274656e616e745f6964223a2275706772616465222c2274696d657374616d70223a22323032362d31312d33305430373a30323a32342e3236305a222c2264617461223a7b226b65795f6964223a2230316132326234332d306430342d373066372d613336322d613434356166616637646535222c226e616d65223a226465706c6f79222c226163746f72223a22626f7373227d7d', 1796022144260);
INSERT INTO public.webhook_events VALUES ('upgrade', '01a22b43-0d4d-769c-8da6-f12ae62e2c49', 'service_api_key.revoked', '\x7b226964223a2230316132326234332d306434642d373639632d386461362d663132616536326532633439222c2274797065223a22736572766963655f6170695f6b65792e7265766f6b6564222c2274656e616e745f6964223a2275706772616465222c2274696d657374616d70223a22323032362d31312d33305430373a30323a32342e3333335a222c2264617461223a7b226b65795f6964223a2230316132326234332d306430342d373066372d613336322d613434356166616637646535222c226e616d65223a226465706c6f79222c226163746f72223a22626f7373227d7d', 1796022144333);


--
-- Data for Name: webhook_lanes; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.webhook_lanes VALUES ('upgrade', '01a22b43-0785-765e-bd23-760e9c358a3d', false, NULL, NULL, 1796022144442, 9, false, 0, 0, 0, '01a22b43-0d4d-769c-8da6-f12ae62e2c49');
INSERT INTO public.webhook_lanes VALUES ('upgrade', '01a22b43-0785-765e-bd23-760e9c358a3d', true, NULL, NULL, 1796022158627, 1, false, 0, 0, 3, '01a22b43-4486-71d3-b3b0-1a5b1b271ec5');


--
-- Data for Name: webhooks; Type: TABLE DATA; Schema: public; Owner: portcullis
--

INSERT INTO public.webhooks VALUES ('upgrade', '01a22b43-0785-765e-bd23-760e9c358a3d', 'http://127.0.0.1:42907/hook', '["resource.registered","policy.rbac.changed","policy.abac.created","policy.abac.updated","policy.abac.deleted","access.denied","service_api_key.created","service_api_key.revoked"]', '\x013eb1bd4369835f9d7a0bef8b1c8ff2ed9dfba4f59e369b2e876af39038cb3f4cb6a6ff76719f831b1de3b76103ad8f8e96567089218b2ae123', 'boss', 1796022142853, NULL, NULL);


--
-- Name: _sqlx_migrations _sqlx_migrations_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public._sqlx_migrations
    ADD CONSTRAINT _sqlx_migrations_pkey PRIMARY KEY (version);


--
-- Name: abac_policies abac_policies_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.abac_policies
    ADD CONSTRAINT abac_policies_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: audit_pruning audit_pruning_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.audit_pruning
    ADD CONSTRAINT audit_pruning_pkey PRIMARY KEY (tenant);


--
-- Name: audit_records audit_records_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.audit_records
    ADD CONSTRAINT audit_records_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: decision_erasures decision_erasures_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.decision_erasures
    ADD CONSTRAINT decision_erasures_pkey PRIMARY KEY (tenant_id, subject);


--
-- Name: decision_files decision_files_path_key; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.decision_files
    ADD CONSTRAINT decision_files_path_key UNIQUE (path);


--
-- Name: decision_files decision_files_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.decision_files
    ADD CONSTRAINT decision_files_pkey PRIMARY KEY (seq);


--
-- Name: decision_parts decision_parts_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.decision_parts
    ADD CONSTRAINT decision_parts_pkey PRIMARY KEY (tenant_id, first_id, path);


--
-- Name: decision_uploads decision_uploads_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.decision_uploads
    ADD CONSTRAINT decision_uploads_pkey PRIMARY KEY (path);


--
-- Name: delivered_denials delivered_denials_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.delivered_denials
    ADD CONSTRAINT delivered_denials_pkey PRIMARY KEY (tenant_id, webhook_id, id);


--
-- Name: denial_segments denial_segments_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.denial_segments
    ADD CONSTRAINT denial_segments_pkey PRIMARY KEY (tenant_id, webhook_id, id);


--
-- Name: drafts drafts_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.drafts
    ADD CONSTRAINT drafts_pkey PRIMARY KEY (tenant_id, name);


--
-- Name: entities entities_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.entities
    ADD CONSTRAINT entities_pkey PRIMARY KEY (tenant_id, type, id);


--
-- Name: entity_roles entity_roles_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.entity_roles
    ADD CONSTRAINT entity_roles_pkey PRIMARY KEY (tenant_id, name);


--
-- Name: entity_syncs entity_syncs_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.entity_syncs
    ADD CONSTRAINT entity_syncs_pkey PRIMARY KEY (tenant_id, source);


--
-- Name: identity_providers identity_providers_issuer_url_key; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.identity_providers
    ADD CONSTRAINT identity_providers_issuer_url_key UNIQUE (issuer_url);


--
-- Name: identity_providers identity_providers_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.identity_providers
    ADD CONSTRAINT identity_providers_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: plan_sizes plan_sizes_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.plan_sizes
    ADD CONSTRAINT plan_sizes_pkey PRIMARY KEY (tenant_id, pattern);


--
-- Name: proposals proposals_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.proposals
    ADD CONSTRAINT proposals_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: rbac_rules rbac_rules_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.rbac_rules
    ADD CONSTRAINT rbac_rules_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: record_answers record_answers_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.record_answers
    ADD CONSTRAINT record_answers_pkey PRIMARY KEY (tenant_id, question, replica);


--
-- Name: relation_syncs relation_syncs_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.relation_syncs
    ADD CONSTRAINT relation_syncs_pkey PRIMARY KEY (tenant_id, source);


--
-- Name: relations relations_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.relations
    ADD CONSTRAINT relations_pkey PRIMARY KEY (tenant_id, object_type, object_id, relation, subject_type, subject_id, subject_relation);


--
-- Name: resolver_modules resolver_modules_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.resolver_modules
    ADD CONSTRAINT resolver_modules_pkey PRIMARY KEY (tenant_id, sha256);


--
-- Name: resolvers resolvers_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.resolvers
    ADD CONSTRAINT resolvers_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: resolvers resolvers_tenant_id_namespace_key; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.resolvers
    ADD CONSTRAINT resolvers_tenant_id_namespace_key UNIQUE (tenant_id, namespace);


--
-- Name: resources resources_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.resources
    ADD CONSTRAINT resources_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: resources resources_tenant_id_name_key; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.resources
    ADD CONSTRAINT resources_tenant_id_name_key UNIQUE (tenant_id, name);


--
-- Name: revision_changes revision_changes_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.revision_changes
    ADD CONSTRAINT revision_changes_pkey PRIMARY KEY (tenant_id, kind, record, revision);


--
-- Name: revision_values revision_values_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.revision_values
    ADD CONSTRAINT revision_values_pkey PRIMARY KEY (tenant_id, hash);


--
-- Name: revisions revisions_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.revisions
    ADD CONSTRAINT revisions_pkey PRIMARY KEY (tenant_id, revision);


--
-- Name: roles roles_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT roles_pkey PRIMARY KEY (tenant_id, name);


--
-- Name: service_keys service_keys_id_key; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.service_keys
    ADD CONSTRAINT service_keys_id_key UNIQUE (id);


--
-- Name: service_keys service_keys_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.service_keys
    ADD CONSTRAINT service_keys_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: tenant_cases tenant_cases_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.tenant_cases
    ADD CONSTRAINT tenant_cases_pkey PRIMARY KEY (tenant_id);


--
-- Name: tenant_settings tenant_settings_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.tenant_settings
    ADD CONSTRAINT tenant_settings_pkey PRIMARY KEY (tenant_id);


--
-- Name: tenants tenants_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (id);


--
-- Name: types types_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.types
    ADD CONSTRAINT types_pkey PRIMARY KEY (tenant_id, name);


--
-- Name: webhook_attempts webhook_attempts_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.webhook_attempts
    ADD CONSTRAINT webhook_attempts_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: webhook_deliveries webhook_deliveries_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: webhook_events webhook_events_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.webhook_events
    ADD CONSTRAINT webhook_events_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: webhook_lanes webhook_lanes_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.webhook_lanes
    ADD CONSTRAINT webhook_lanes_pkey PRIMARY KEY (tenant_id, webhook_id, denials);


--
-- Name: webhooks webhooks_pkey; Type: CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: abac_policies_by_name; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX abac_policies_by_name ON public.abac_policies USING btree (tenant_id, name COLLATE "C", id) WHERE (deleted_at IS NULL);


--
-- Name: abac_policies_by_resource; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX abac_policies_by_resource ON public.abac_policies USING btree (tenant_id, resource) WHERE (deleted_at IS NULL);


--
-- Name: abac_policies_of_plans; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX abac_policies_of_plans ON public.abac_policies USING btree (tenant_id, resource);


--
-- Name: audit_records_by_id; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX audit_records_by_id ON public.audit_records USING btree (id);


--
-- Name: decision_erasures_by_end; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX decision_erasures_by_end ON public.decision_erasures USING btree (tenant_id, ended_at);


--
-- Name: decision_files_gone; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX decision_files_gone ON public.decision_files USING btree (gone_at) WHERE ((gone_at IS NOT NULL) AND (NOT deleted));


--
-- Name: decision_files_present; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX decision_files_present ON public.decision_files USING btree (path) WHERE ((gone_at IS NULL) AND (path IS NOT NULL));


--
-- Name: decision_parts_by_age; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX decision_parts_by_age ON public.decision_parts USING btree (expires_at);


--
-- Name: decision_parts_by_path; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX decision_parts_by_path ON public.decision_parts USING btree (path);


--
-- Name: deleted_entities; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX deleted_entities ON public.entities USING btree (tenant_id, revision) WHERE is_deleted;


--
-- Name: deleted_relations; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX deleted_relations ON public.relations USING btree (tenant_id, revision) WHERE is_deleted;


--
-- Name: delivered_denials_by_age; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX delivered_denials_by_age ON public.delivered_denials USING btree (settled_at);


--
-- Name: drafts_in_shadow; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE UNIQUE INDEX drafts_in_shadow ON public.drafts USING btree (tenant_id) WHERE (shadow_id IS NOT NULL);


--
-- Name: entities_by_revision; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX entities_by_revision ON public.entities USING btree (tenant_id, revision);


--
-- Name: entities_by_source; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX entities_by_source ON public.entities USING btree (tenant_id, source, type, id) WHERE (source IS NOT NULL);


--
-- Name: entity_roles_unused; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX entity_roles_unused ON public.entity_roles USING btree (tenant_id, holders) WHERE (holders <= 0);


--
-- Name: identity_providers_by_id; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX identity_providers_by_id ON public.identity_providers USING btree (id);


--
-- Name: identity_providers_by_use; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX identity_providers_by_use ON public.identity_providers USING btree (last_used_at) WHERE (last_used_at IS NOT NULL);


--
-- Name: plan_sizes_gone; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX plan_sizes_gone ON public.plan_sizes USING btree (tenant_id) WHERE (bytes <= 0);


--
-- Name: rbac_rules_by_tuple; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE UNIQUE INDEX rbac_rules_by_tuple ON public.rbac_rules USING btree (tenant_id, obj, md5(sub), md5(dom), md5(act));


--
-- Name: record_answers_by_age; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX record_answers_by_age ON public.record_answers USING btree (at);


--
-- Name: relations_by_revision; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX relations_by_revision ON public.relations USING btree (tenant_id, revision);


--
-- Name: relations_by_source; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX relations_by_source ON public.relations USING btree (tenant_id, source, sync) WHERE (source IS NOT NULL);


--
-- Name: relations_by_subject; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX relations_by_subject ON public.relations USING btree (tenant_id, subject_type, subject_id, object_type, object_id, relation, subject_relation);


--
-- Name: resolver_modules_by_digest; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX resolver_modules_by_digest ON public.resolver_modules USING btree (sha256);


--
-- Name: resolvers_by_module; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX resolvers_by_module ON public.resolvers USING btree (tenant_id, sha256);


--
-- Name: resources_by_stem; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX resources_by_stem ON public.resources USING btree (tenant_id, stem);


--
-- Name: resources_by_verb; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX resources_by_verb ON public.resources USING btree (tenant_id, verb);


--
-- Name: revision_changes_by_revision; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX revision_changes_by_revision ON public.revision_changes USING btree (tenant_id, revision);


--
-- Name: revision_values_by_last_revision; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX revision_values_by_last_revision ON public.revision_values USING btree (tenant_id, last_revision);


--
-- Name: tenants_by_change; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX tenants_by_change ON public.tenants USING btree (changed);


--
-- Name: tenants_by_slug; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE UNIQUE INDEX tenants_by_slug ON public.tenants USING btree (slug);


--
-- Name: tenants_closed; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX tenants_closed ON public.tenants USING btree (id) WHERE ((suspended_at IS NOT NULL) OR (deleting_at IS NOT NULL));


--
-- Name: tenants_deleting; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX tenants_deleting ON public.tenants USING btree (id) WHERE (deleting_at IS NOT NULL);


--
-- Name: webhook_attempts_by_age; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX webhook_attempts_by_age ON public.webhook_attempts USING btree (attempted_at);


--
-- Name: webhook_attempts_by_delivery; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX webhook_attempts_by_delivery ON public.webhook_attempts USING btree (tenant_id, delivery_id);


--
-- Name: webhook_attempts_by_webhook; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX webhook_attempts_by_webhook ON public.webhook_attempts USING btree (tenant_id, webhook_id, id);


--
-- Name: webhook_deliveries_by_age; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX webhook_deliveries_by_age ON public.webhook_deliveries USING btree (settled_at) WHERE (settled_at IS NOT NULL);


--
-- Name: webhook_deliveries_by_event; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX webhook_deliveries_by_event ON public.webhook_deliveries USING btree (tenant_id, event_id);


--
-- Name: webhook_deliveries_by_queue; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX webhook_deliveries_by_queue ON public.webhook_deliveries USING btree (tenant_id, webhook_id, denials, due_at, event_id);


--
-- Name: webhook_deliveries_of_denials; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX webhook_deliveries_of_denials ON public.webhook_deliveries USING btree (tenant_id, webhook_id, event_id) WHERE (denials AND (due_at IS NOT NULL));


--
-- Name: webhook_deliveries_of_settled_denials; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX webhook_deliveries_of_settled_denials ON public.webhook_deliveries USING btree (tenant_id, webhook_id, settled_at) WHERE (denials AND (settled_at IS NOT NULL));


--
-- Name: webhook_events_by_age; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX webhook_events_by_age ON public.webhook_events USING btree (created_at);


--
-- Name: webhook_lanes_due; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX webhook_lanes_due ON public.webhook_lanes USING btree (due_at) WHERE (due_at IS NOT NULL);


--
-- Name: webhook_lanes_held; Type: INDEX; Schema: public; Owner: portcullis
--

CREATE INDEX webhook_lanes_held ON public.webhook_lanes USING btree (holder) WHERE (holder IS NOT NULL);


--
-- Name: audit_records audit_records_never_change; Type: TRIGGER; Schema: public; Owner: portcullis
--

CREATE TRIGGER audit_records_never_change BEFORE UPDATE ON public.audit_records FOR EACH ROW EXECUTE FUNCTION public.portcullis_refuse_audit_change();


--
-- Name: audit_records audit_records_stay; Type: TRIGGER; Schema: public; Owner: portcullis
--

CREATE TRIGGER audit_records_stay BEFORE DELETE ON public.audit_records FOR EACH ROW EXECUTE FUNCTION public.portcullis_refuse_audit_deletion();


--
-- Name: audit_records audit_records_stay_together; Type: TRIGGER; Schema: public; Owner: portcullis
--

CREATE TRIGGER audit_records_stay_together BEFORE TRUNCATE ON public.audit_records FOR EACH STATEMENT EXECUTE FUNCTION public.portcullis_refuse_audit_change();


--
-- Name: identity_providers identity_providers_note; Type: TRIGGER; Schema: public; Owner: portcullis
--

CREATE TRIGGER identity_providers_note AFTER INSERT OR DELETE ON public.identity_providers FOR EACH ROW EXECUTE FUNCTION public.portcullis_note_access();


--
-- Name: service_keys service_keys_note; Type: TRIGGER; Schema: public; Owner: portcullis
--

CREATE TRIGGER service_keys_note AFTER DELETE ON public.service_keys FOR EACH ROW EXECUTE FUNCTION public.portcullis_note_access();


--
-- Name: tenants tenants_note_change; Type: TRIGGER; Schema: public; Owner: portcullis
--

CREATE TRIGGER tenants_note_change BEFORE UPDATE OF revision, access_changed ON public.tenants FOR EACH ROW EXECUTE FUNCTION public.portcullis_note_change();


--
-- Name: tenants tenants_note_state; Type: TRIGGER; Schema: public; Owner: portcullis
--

CREATE TRIGGER tenants_note_state BEFORE UPDATE OF suspended_at, deleting_at, erased_at ON public.tenants FOR EACH ROW EXECUTE FUNCTION public.portcullis_note_state();


--
-- Name: webhooks webhooks_note; Type: TRIGGER; Schema: public; Owner: portcullis
--

CREATE TRIGGER webhooks_note AFTER INSERT OR DELETE OR UPDATE OF events ON public.webhooks FOR EACH ROW EXECUTE FUNCTION public.portcullis_note_access();


--
-- Name: abac_policies abac_policies_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.abac_policies
    ADD CONSTRAINT abac_policies_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: delivered_denials delivered_denials_tenant_id_webhook_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.delivered_denials
    ADD CONSTRAINT delivered_denials_tenant_id_webhook_id_fkey FOREIGN KEY (tenant_id, webhook_id) REFERENCES public.webhooks(tenant_id, id) ON DELETE CASCADE;


--
-- Name: denial_segments denial_segments_tenant_id_webhook_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.denial_segments
    ADD CONSTRAINT denial_segments_tenant_id_webhook_id_fkey FOREIGN KEY (tenant_id, webhook_id) REFERENCES public.webhooks(tenant_id, id) ON DELETE CASCADE;


--
-- Name: drafts drafts_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.drafts
    ADD CONSTRAINT drafts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: entities entities_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.entities
    ADD CONSTRAINT entities_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: entity_roles entity_roles_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.entity_roles
    ADD CONSTRAINT entity_roles_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: entity_syncs entity_syncs_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.entity_syncs
    ADD CONSTRAINT entity_syncs_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: identity_providers identity_providers_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.identity_providers
    ADD CONSTRAINT identity_providers_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: plan_sizes plan_sizes_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.plan_sizes
    ADD CONSTRAINT plan_sizes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: proposals proposals_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.proposals
    ADD CONSTRAINT proposals_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: rbac_rules rbac_rules_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.rbac_rules
    ADD CONSTRAINT rbac_rules_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: relation_syncs relation_syncs_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.relation_syncs
    ADD CONSTRAINT relation_syncs_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: relations relations_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.relations
    ADD CONSTRAINT relations_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: resolver_modules resolver_modules_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.resolver_modules
    ADD CONSTRAINT resolver_modules_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: resolvers resolvers_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.resolvers
    ADD CONSTRAINT resolvers_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: resolvers resolvers_tenant_id_sha256_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.resolvers
    ADD CONSTRAINT resolvers_tenant_id_sha256_fkey FOREIGN KEY (tenant_id, sha256) REFERENCES public.resolver_modules(tenant_id, sha256);


--
-- Name: resources resources_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.resources
    ADD CONSTRAINT resources_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: revision_changes revision_changes_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.revision_changes
    ADD CONSTRAINT revision_changes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: revision_values revision_values_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.revision_values
    ADD CONSTRAINT revision_values_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: revisions revisions_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.revisions
    ADD CONSTRAINT revisions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: roles roles_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT roles_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: service_keys service_keys_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.service_keys
    ADD CONSTRAINT service_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: tenant_cases tenant_cases_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.tenant_cases
    ADD CONSTRAINT tenant_cases_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: tenant_settings tenant_settings_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.tenant_settings
    ADD CONSTRAINT tenant_settings_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: types types_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.types
    ADD CONSTRAINT types_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: webhook_attempts webhook_attempts_tenant_id_delivery_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.webhook_attempts
    ADD CONSTRAINT webhook_attempts_tenant_id_delivery_id_fkey FOREIGN KEY (tenant_id, delivery_id) REFERENCES public.webhook_deliveries(tenant_id, id);


--
-- Name: webhook_deliveries webhook_deliveries_tenant_id_event_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_tenant_id_event_id_fkey FOREIGN KEY (tenant_id, event_id) REFERENCES public.webhook_events(tenant_id, id);


--
-- Name: webhook_events webhook_events_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.webhook_events
    ADD CONSTRAINT webhook_events_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: webhook_lanes webhook_lanes_tenant_id_webhook_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.webhook_lanes
    ADD CONSTRAINT webhook_lanes_tenant_id_webhook_id_fkey FOREIGN KEY (tenant_id, webhook_id) REFERENCES public.webhooks(tenant_id, id);


--
-- Name: webhooks webhooks_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: portcullis
--

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: abac_policies; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.abac_policies ENABLE ROW LEVEL SECURITY;

--
-- Name: audit_pruning; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.audit_pruning ENABLE ROW LEVEL SECURITY;

--
-- Name: audit_records; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.audit_records ENABLE ROW LEVEL SECURITY;

--
-- Name: decision_erasures; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.decision_erasures ENABLE ROW LEVEL SECURITY;

--
-- Name: decision_files; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.decision_files ENABLE ROW LEVEL SECURITY;

--
-- Name: decision_parts; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.decision_parts ENABLE ROW LEVEL SECURITY;

--
-- Name: decision_uploads; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.decision_uploads ENABLE ROW LEVEL SECURITY;

--
-- Name: delivered_denials; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.delivered_denials ENABLE ROW LEVEL SECURITY;

--
-- Name: denial_segments; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.denial_segments ENABLE ROW LEVEL SECURITY;

--
-- Name: drafts; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.drafts ENABLE ROW LEVEL SECURITY;

--
-- Name: entities; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.entities ENABLE ROW LEVEL SECURITY;

--
-- Name: entity_roles; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.entity_roles ENABLE ROW LEVEL SECURITY;

--
-- Name: entity_syncs; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.entity_syncs ENABLE ROW LEVEL SECURITY;

--
-- Name: identity_providers; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.identity_providers ENABLE ROW LEVEL SECURITY;

--
-- Name: decision_files of_the_service; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY of_the_service ON public.decision_files USING (public.portcullis_may_see('*'::text));


--
-- Name: decision_uploads of_the_service; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY of_the_service ON public.decision_uploads USING (public.portcullis_may_see('*'::text));


--
-- Name: abac_policies own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.abac_policies USING (public.portcullis_may_see(tenant_id));


--
-- Name: audit_pruning own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.audit_pruning USING (public.portcullis_may_see(tenant));


--
-- Name: audit_records own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.audit_records USING (public.portcullis_may_see(tenant_id));


--
-- Name: decision_erasures own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.decision_erasures USING (public.portcullis_may_see(tenant_id));


--
-- Name: decision_parts own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.decision_parts USING (public.portcullis_may_see(tenant_id));


--
-- Name: delivered_denials own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.delivered_denials USING (public.portcullis_may_see(tenant_id));


--
-- Name: denial_segments own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.denial_segments USING (public.portcullis_may_see(tenant_id));


--
-- Name: drafts own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.drafts USING (public.portcullis_may_see(tenant_id));


--
-- Name: entities own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.entities USING (public.portcullis_may_see(tenant_id));


--
-- Name: entity_roles own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.entity_roles USING (public.portcullis_may_see(tenant_id));


--
-- Name: entity_syncs own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.entity_syncs USING (public.portcullis_may_see(tenant_id));


--
-- Name: identity_providers own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.identity_providers USING (public.portcullis_may_see(tenant_id));


--
-- Name: plan_sizes own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.plan_sizes USING (public.portcullis_may_see(tenant_id));


--
-- Name: proposals own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.proposals USING (public.portcullis_may_see(tenant_id));


--
-- Name: rbac_rules own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.rbac_rules USING (public.portcullis_may_see(tenant_id));


--
-- Name: record_answers own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.record_answers USING (public.portcullis_may_see(tenant_id));


--
-- Name: relation_syncs own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.relation_syncs USING (public.portcullis_may_see(tenant_id));


--
-- Name: relations own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.relations USING (public.portcullis_may_see(tenant_id));


--
-- Name: resolver_modules own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.resolver_modules USING (public.portcullis_may_see(tenant_id));


--
-- Name: resolvers own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.resolvers USING (public.portcullis_may_see(tenant_id));


--
-- Name: resources own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.resources USING (public.portcullis_may_see(tenant_id));


--
-- Name: revision_changes own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.revision_changes USING (public.portcullis_may_see(tenant_id));


--
-- Name: revision_values own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.revision_values USING (public.portcullis_may_see(tenant_id));


--
-- Name: revisions own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.revisions USING (public.portcullis_may_see(tenant_id));


--
-- Name: roles own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.roles USING (public.portcullis_may_see(tenant_id));


--
-- Name: service_keys own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.service_keys USING (public.portcullis_may_see(tenant_id));


--
-- Name: tenant_cases own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.tenant_cases USING (public.portcullis_may_see(tenant_id));


--
-- Name: tenant_settings own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.tenant_settings USING (public.portcullis_may_see(tenant_id));


--
-- Name: types own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.types USING (public.portcullis_may_see(tenant_id));


--
-- Name: webhook_attempts own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.webhook_attempts USING (public.portcullis_may_see(tenant_id));


--
-- Name: webhook_deliveries own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.webhook_deliveries USING (public.portcullis_may_see(tenant_id));


--
-- Name: webhook_events own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.webhook_events USING (public.portcullis_may_see(tenant_id));


--
-- Name: webhook_lanes own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.webhook_lanes USING (public.portcullis_may_see(tenant_id));


--
-- Name: webhooks own_rows; Type: POLICY; Schema: public; Owner: portcullis
--

CREATE POLICY own_rows ON public.webhooks USING (public.portcullis_may_see(tenant_id));


--
-- Name: plan_sizes; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.plan_sizes ENABLE ROW LEVEL SECURITY;

--
-- Name: proposals; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.proposals ENABLE ROW LEVEL SECURITY;

--
-- Name: rbac_rules; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.rbac_rules ENABLE ROW LEVEL SECURITY;

--
-- Name: record_answers; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.record_answers ENABLE ROW LEVEL SECURITY;

--
-- Name: relation_syncs; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.relation_syncs ENABLE ROW LEVEL SECURITY;

--
-- Name: relations; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.relations ENABLE ROW LEVEL SECURITY;

--
-- Name: resolver_modules; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.resolver_modules ENABLE ROW LEVEL SECURITY;

--
-- Name: resolvers; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.resolvers ENABLE ROW LEVEL SECURITY;

--
-- Name: resources; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.resources ENABLE ROW LEVEL SECURITY;

--
-- Name: revision_changes; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.revision_changes ENABLE ROW LEVEL SECURITY;

--
-- Name: revision_values; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.revision_values ENABLE ROW LEVEL SECURITY;

--
-- Name: revisions; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.revisions ENABLE ROW LEVEL SECURITY;

--
-- Name: roles; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.roles ENABLE ROW LEVEL SECURITY;

--
-- Name: service_keys; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.service_keys ENABLE ROW LEVEL SECURITY;

--
-- Name: tenant_cases; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.tenant_cases ENABLE ROW LEVEL SECURITY;

--
-- Name: tenant_settings; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.tenant_settings ENABLE ROW LEVEL SECURITY;

--
-- Name: types; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.types ENABLE ROW LEVEL SECURITY;

--
-- Name: webhook_attempts; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.webhook_attempts ENABLE ROW LEVEL SECURITY;

--
-- Name: webhook_deliveries; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.webhook_deliveries ENABLE ROW LEVEL SECURITY;

--
-- Name: webhook_events; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.webhook_events ENABLE ROW LEVEL SECURITY;

--
-- Name: webhook_lanes; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.webhook_lanes ENABLE ROW LEVEL SECURITY;

--
-- Name: webhooks; Type: ROW SECURITY; Schema: public; Owner: portcullis
--

ALTER TABLE public.webhooks ENABLE ROW LEVEL SECURITY;

--
-- PostgreSQL database dump complete
--


