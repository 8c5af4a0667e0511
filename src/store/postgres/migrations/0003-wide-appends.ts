import type { Migration } from './migration.ts'

/** For appends that do more than add events to a turn: new messages, calls, ends, seals. */
export const wideAppends: Migration = {
  version: 3,
  toSql: (schema) => `
CREATE FUNCTION ${schema}.find_illegal(of_thread text, messages json, retired json, calls json)
RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  found_id text;
  state text;
BEGIN
  SELECT planned.id INTO found_id FROM (
    SELECT id, place, row_number() OVER (PARTITION BY id ORDER BY place) AS occurrence
    FROM json_to_recordset(messages) AS m(id text, place integer)
  ) AS planned
  WHERE occurrence > 1 OR EXISTS (
    SELECT FROM ${schema}.messages AS known
    WHERE known.thread_id = of_thread AND known.message_id = planned.id OFFSET 0)
  ORDER BY place LIMIT 1;
  IF FOUND THEN RETURN ARRAY['illegal', 'message', found_id, 'exists']; END IF;

  SELECT gone.id INTO found_id FROM json_array_elements_text(retired) AS gone(id)
  WHERE NOT EXISTS (
    SELECT FROM ${schema}.messages AS known
    WHERE known.thread_id = of_thread AND known.message_id = gone.id OFFSET 0)
  AND gone.id NOT IN (SELECT id FROM json_to_recordset(messages) AS m(id text))
  LIMIT 1;
  IF FOUND THEN RETURN ARRAY['illegal', 'message', found_id, 'absent']; END IF;

  SELECT planned.id, coalesce(known.life, 'absent') INTO found_id, state
  FROM json_to_recordset(calls) AS planned(id text, turn text, place integer, paths json)
  LEFT JOIN LATERAL (
    SELECT life, message_id, seq FROM ${schema}.calls
    WHERE thread_id = of_thread AND call_id = planned.id OFFSET 0) AS known ON true
  WHERE planned.paths ->> coalesce(known.life, 'absent') IS NULL
    OR known.message_id <> planned.turn
  ORDER BY known.seq NULLS LAST, planned.place LIMIT 1;
  IF FOUND THEN RETURN ARRAY['illegal', 'call', found_id, state]; END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION ${schema}.write_wide(
  ids text[], starts bigint[], ends bigint[], texts text[], appends json
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  g record;
  item record;
BEGIN
  FOR g IN
    SELECT * FROM json_to_recordset(appends) AS a(
      nth integer, messages json, retired json, calls json, moves json, ending json, seal json)
    WHERE starts[nth] IS NOT NULL
  LOOP
    INSERT INTO ${schema}.messages
      (thread_id, seq, message_id, role, status, body, body_seq, commit_seq, created_at)
    SELECT ids[g.nth], starts[g.nth] + m.place, m.id, m.role, m.status, texts[m.body],
      CASE WHEN m.body IS NOT NULL THEN starts[g.nth] + m.place END, ends[g.nth], m.at
    FROM json_to_recordset(g.messages) AS m(
      id text, place integer, role text, status text, body integer, at bigint);

    FOR item IN SELECT * FROM json_to_recordset(g.moves) AS m(id text, paths json) LOOP
      UPDATE ${schema}.messages SET status = item.paths ->> status
      WHERE thread_id = ids[g.nth] AND message_id = item.id;
    END LOOP;

    IF g.retired IS NOT NULL THEN
      UPDATE ${schema}.messages SET retired_seq = ends[g.nth]
      WHERE thread_id = ids[g.nth] AND retired_seq IS NULL
        AND message_id = ANY (ARRAY(SELECT json_array_elements_text(g.retired)));
    END IF;

    IF g.calls IS NOT NULL THEN
      INSERT INTO ${schema}.calls AS stored
        (thread_id, call_id, message_id, seq, name, life, input, output, model_output)
      SELECT ids[g.nth], c.id, c.turn, starts[g.nth] + c.place,
        coalesce(c.name, known.name, ''), c.paths ->> coalesce(known.life, 'absent'),
        texts[c.input], texts[c.output], texts[c.model]
      FROM json_to_recordset(g.calls) AS c(
        id text, turn text, place integer, paths json, name text,
        input integer, output integer, model integer)
      LEFT JOIN LATERAL (
        SELECT life, name FROM ${schema}.calls
        WHERE thread_id = ids[g.nth] AND call_id = c.id OFFSET 0) AS known ON true
      ON CONFLICT (thread_id, call_id) DO UPDATE SET
        name = excluded.name,
        life = excluded.life,
        input = coalesce(excluded.input, stored.input),
        output = coalesce(excluded.output, stored.output),
        model_output = coalesce(excluded.model_output, stored.model_output);
    END IF;

    FOR item IN
      SELECT turn FROM json_array_elements_text(g.ending) AS turn
      WHERE EXISTS (
        SELECT FROM ${schema}.calls WHERE thread_id = ids[g.nth] AND message_id = turn
          AND life IN ('streaming', 'awaiting-approval', 'ready', 'running') OFFSET 0)
    LOOP
      RAISE EXCEPTION 'open-calls' USING ERRCODE = 'HF001', DETAIL = item.turn;
    END LOOP;

    FOR item IN
      SELECT turn, m.status FROM json_array_elements_text(g.seal) AS turn
      LEFT JOIN LATERAL (
        SELECT status FROM ${schema}.messages
        WHERE thread_id = ids[g.nth] AND message_id = turn OFFSET 0) AS m ON true
      WHERE m.status IS DISTINCT FROM 'ended'
    LOOP
      RAISE EXCEPTION USING
        MESSAGE = coalesce(item.status, 'absent'), ERRCODE = 'HF001', DETAIL = item.turn;
    END LOOP;
  END LOOP;
END $$;
`,
}
