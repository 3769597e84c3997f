package dev.portcullis.client;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads answers. What is not an answer of the service is a {@link JsonException}, never an allow. */
final class Answers {
    private static final Pattern NEXT = Pattern.compile("<[^>]*[?&]cursor=([^>&]*)[^>]*>\\s*;\\s*rel=\"?next\"?");

    private Answers() {}

    static Decision decision(Answer answer) {
        return decision(decided(answer), answer);
    }

    /** Reads the answer of the legacy check, whose two members must agree. */
    static Decision legacyDecision(Answer answer) {
        Object body = decided(answer);
        Decision decision = decision(body, answer);
        if (!Boolean.valueOf(decision.allowed()).equals(Json.object(body).get("allowed"))) {
            throw new JsonException("`allowed` and `decision` do not agree");
        }
        return decision;
    }

    /** Reads the answer of a batch of `length` checks. */
    static List<Decision> decisions(Answer answer, int length) {
        List<Decision> decisions = each(Json.object(decided(answer)).get("results"), result -> decision(result, answer));
        if (decisions.size() != length) {
            throw new JsonException("a batch of another length");
        }
        return decisions;
    }

    /** Returns the body of an answer with decisions. They come with the status 200 alone. */
    private static @Nullable Object decided(Answer answer) {
        if (answer.status() != 200) {
            throw new JsonException("a decision with the status " + answer.status());
        }
        return answer.json();
    }

    private static Decision decision(@Nullable Object of, Answer answer) {
        Map<String, @Nullable Object> body = Json.object(of);
        Object decision = body.get("decision");
        if (!"allow".equals(decision) && !"deny".equals(decision)) {
            throw new JsonException("no decision");
        }
        Revision revision = Revision.answered(answer.headers());
        String id = Json.textOrNull(body.get("decision_id"));
        return new Decision(
                "allow".equals(decision),
                Json.textOrNull(body.get("matched_rule_id")),
                Json.textOrNull(body.get("reason")),
                revision.isEmpty() ? null : revision.toString(),
                id == null ? answer.header("x-decision-id") : id,
                answer.header("x-request-id"),
                answer.attempts(),
                false);
    }

    /** Reads a page of permissions. */
    static List<Permission> permissions(Answer answer) {
        return each(Json.object(answer.json()).get("results"), Answers::permission);
    }

    /** Returns the cursor of the next page, as the address of the next page has it; null where there is none. */
    static @Nullable String nextCursor(Answer answer) {
        Matcher next = NEXT.matcher(String.join(",", answer.headers().allValues("link")));
        return next.find() ? next.group(1) : null;
    }

    private static Permission permission(@Nullable Object of) {
        Map<String, @Nullable Object> body = Json.object(of);
        return new Permission(
                Json.text(body.get("resource")), Json.text(body.get("action")), Json.text(body.get("decision")), dependsOn(body));
    }

    static SearchPage searchPage(Answer answer) {
        Map<String, @Nullable Object> body = Json.object(answer.json());
        if (!(body.get("complete") instanceof Boolean complete)) {
            throw new JsonException("no `complete`");
        }
        return new SearchPage(
                each(body.get("results"), Answers::found),
                each(body.get("conditional"), Answers::found),
                complete,
                Json.textOrNull(body.get("next")));
    }

    private static Found found(@Nullable Object of) {
        Map<String, @Nullable Object> body = Json.object(of);
        return new Found(
                Json.textOrNull(body.get("type")),
                Json.textOrNull(body.get("id")),
                Json.textOrNull(body.get("decision")),
                Json.textOrNull(body.get("rule")),
                dependsOn(body),
                Json.textOrNull(body.get("resource")),
                Json.textOrNull(body.get("action")));
    }

    private static List<String> dependsOn(Map<String, @Nullable Object> body) {
        Object names = body.get("depends_on");
        return names == null ? List.of() : each(names, Json::text);
    }

    static Plan plan(Answer answer) {
        Map<String, @Nullable Object> body = Json.object(answer.json());
        Object sql = body.get("sql");
        return new Plan(Json.text(body.get("kind")), sql == null ? null : sql(Json.object(sql)), Boolean.TRUE.equals(body.get("exact")));
    }

    private static Sql sql(Map<String, @Nullable Object> of) {
        Object params = of.get("params");
        return new Sql(Json.text(of.get("text")), params == null ? List.of() : each(params, Function.identity()));
    }

    static RelationCounts counts(Answer answer) {
        Map<String, @Nullable Object> body = Json.object(answer.json());
        return new RelationCounts(
                Json.number(body.get("written")),
                Json.number(body.get("unchanged")),
                Json.number(body.get("deleted")),
                Json.number(body.get("absent")));
    }

    /** Reads a list of records. */
    static List<Map<String, Object>> records(Answer answer) {
        return each(answer.json(), Json::object);
    }

    static Map<String, Object> record(Answer answer) {
        return Json.object(answer.json());
    }

    static Response any(Answer answer) {
        Object json = answer.body().length == 0 ? null : answer.json();
        return new Response(answer.status(), answer.headers().map(), json);
    }

    private static <T extends @Nullable Object> List<T> each(@Nullable Object items, Function<@Nullable Object, T> read) {
        List<T> all = new ArrayList<>();
        for (Object item : Json.array(items)) {
            all.add(read.apply(item));
        }
        return Collections.unmodifiableList(all);
    }
}
