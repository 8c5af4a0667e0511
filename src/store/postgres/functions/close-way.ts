/** For a statement that finds only at its end that it must not have been: takes all of it back. */
export const closeWay = (schema: string): string => `
CREATE OR REPLACE FUNCTION ${schema}.close_way() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'closed' USING ERRCODE = 'HF002';
END $$;
`
