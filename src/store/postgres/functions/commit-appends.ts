import { lockNames } from '../name-locks.ts'

/**
 * A whole group commit as one statement, at most one append per thread. All threads are locked first,
 * in one order, so that two groups wait for each other and never in a circle; what is read after that
 * is what stands. Every append is judged before anything is written, so a refusal needs no rollback;
 * what can only be seen afterwards is raised as HF001, and the caller repeats the group one by one.
 *
 * A thread that is not there is locked by its name, before all others (`making`). It is judged as an
 * empty one, and written only with its first append: nothing has to be taken back if that is refused.
 *
 * `packed` has every JSON text of the group, with a control character between them that no such text
 * has: nothing is escaped on the way, and a large result is read once.
 *
 * Rows are found by subqueries with OFFSET 0 and changed through ON CONFLICT: each stays a probe of
 * an index, whatever size the tables had when a connection made its plan.
 */
export const commitAppends = (schema: string): string => `
CREATE OR REPLACE FUNCTION ${schema}.commit_appends(
  ids text[], making text[], appends json, events json, packed text, is_wide boolean
) RETURNS TABLE (
  nth integer, result text, reached bigint, fencing bigint, stopping boolean, refusal text[]
) LANGUAGE plpgsql AS $$
DECLARE
  texts text[] := string_to_array(packed, chr(30));
  start bigint;
  starts bigint[];
  ends bigint[];
BEGIN
  IF making IS NOT NULL THEN PERFORM ${lockNames('making')}; END IF;
  PERFORM FROM ${schema}.threads WHERE id = ANY (ids) ORDER BY id FOR UPDATE;

  FOR nth, result, start, reached, fencing, stopping, refusal IN
    WITH judged AS MATERIALIZED (
      SELECT g.*, t.seq, t.owner_id, t.created_at, t.updated_at, t.activity, t.is_new,
        t.title AS old_title, t.lease_holder, t.lease_turn, t.lease_until,
        -- Of the whole store: a thread that is made anew under an old id does not begin again.
        CASE g.lease WHEN 'acquire' THEN greatest(t.fence + 1, nextval('${schema}.activity'))
          ELSE t.fence END AS new_fence,
        CASE g.lease WHEN 'acquire' THEN NULL ELSE t.stop_fence END AS new_stop,
        CASE
          WHEN t.id IS NULL THEN '{no-thread}'
          WHEN g.expected <> t.seq THEN '{stale}'
          WHEN g.lease = 'acquire' AND t.lease_until > clock_timestamp()
            AND g.fence IS DISTINCT FROM t.fence
          THEN ARRAY['leased', t.lease_turn, t.lease_holder, t.fence::text]
          WHEN g.lease <> 'acquire' AND (t.lease_holder IS NULL OR g.fence <> t.fence)
          THEN '{fenced}'
          ELSE coalesce(
            CASE WHEN coalesce(g.shown, g.calls) IS NOT NULL
              THEN ${schema}.find_illegal(t.id, g.shown, g.calls) END,
            (SELECT ARRAY['illegal', 'turn', u.id, coalesce(m.status, 'absent')]
             FROM json_to_recordset(g.turns) AS u(id text, paths json)
             LEFT JOIN LATERAL (
               SELECT status FROM ${schema}.messages
               WHERE thread_id = t.id AND message_id = u.id
               ORDER BY seq DESC LIMIT 1) AS m ON true
             WHERE u.paths ->> coalesce(m.status, 'absent') IS NULL LIMIT 1))
        END AS refused
      FROM json_to_recordset(appends) AS g(
        nth integer, thread text, size integer, expected bigint, title text, at bigint,
        owner text, first_title text, made_at bigint,
        lease text, holder text, turn text, ms bigint, fence bigint,
        shown json, calls json, turns json)
      LEFT JOIN LATERAL (
        SELECT id, owner_id, title, created_at, updated_at, seq, activity, fence, stop_fence,
          lease_holder, lease_turn, lease_until, false AS is_new
        FROM ${schema}.threads WHERE id = g.thread
        UNION ALL SELECT g.thread, g.owner, g.first_title, g.made_at, g.made_at, 0,
          nextval('${schema}.activity'), 0, NULL, NULL, NULL, NULL, true
        WHERE g.owner IS NOT NULL
          AND NOT EXISTS (SELECT FROM ${schema}.threads WHERE id = g.thread OFFSET 0)
        OFFSET 0) AS t ON g.owner IS NULL OR t.owner_id = g.owner
    ), moved AS (
      INSERT INTO ${schema}.threads AS t (id, owner_id, title, created_at, updated_at, seq,
        activity, fence, stop_fence, lease_holder, lease_turn, lease_until)
      SELECT j.thread, j.owner_id, coalesce(j.title, j.old_title), j.created_at,
        coalesce(j.at, j.updated_at), j.seq + j.size,
        CASE WHEN j.at IS NULL THEN j.activity ELSE nextval('${schema}.activity') END,
        j.new_fence, j.new_stop,
        CASE j.lease WHEN 'acquire' THEN j.holder WHEN 'release' THEN NULL
          ELSE j.lease_holder END,
        CASE j.lease WHEN 'acquire' THEN j.turn WHEN 'release' THEN NULL ELSE j.lease_turn END,
        CASE WHEN j.ms IS NOT NULL
          THEN clock_timestamp() + j.ms * interval '1 millisecond'
          WHEN j.lease = 'release' THEN NULL ELSE j.lease_until END
      FROM judged AS j
      WHERE j.refused IS NULL
        AND (j.size > 0 OR j.lease <> 'hold' OR j.ms IS NOT NULL OR j.is_new)
      ON CONFLICT (id) DO UPDATE SET
        title = excluded.title, updated_at = excluded.updated_at, seq = excluded.seq,
        activity = excluded.activity, fence = excluded.fence, stop_fence = excluded.stop_fence,
        lease_holder = excluded.lease_holder, lease_turn = excluded.lease_turn,
        lease_until = excluded.lease_until
    )
    SELECT j.nth, coalesce(j.refused[1], 'appended'),
      CASE WHEN j.refused IS NULL THEN j.seq END,
      CASE WHEN j.refused IS NULL THEN j.seq + j.size ELSE j.seq END,
      j.new_fence,
      coalesce(j.new_stop = j.new_fence AND j.lease_holder IS NOT NULL
        AND j.lease IS DISTINCT FROM 'release', false),
      j.refused
    FROM judged AS j
  LOOP
    starts[nth] := start;
    ends[nth] := reached;
    RETURN NEXT;
  END LOOP;

  IF is_wide THEN
    PERFORM ${schema}.write_wide(ids, starts, ends, texts, appends);
  END IF;
  IF events IS NULL THEN RETURN; END IF;
  INSERT INTO ${schema}.events (thread_id, seq, size, commit_seq, message_id, at, payload)
  SELECT ids[e.nth], starts[e.nth] + e.place, e.size, ends[e.nth], e.turn, e.at, texts[e.payload]
  FROM json_to_recordset(events) AS e(
    nth integer, place integer, size integer, turn text, at bigint, payload integer)
  WHERE starts[e.nth] IS NOT NULL;
END $$;
`
