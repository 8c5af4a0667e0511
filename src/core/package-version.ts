/**
 * The version in package.json. A test compares them, and the build writes package.json's version into the
 * published files.
 */
export const packageVersion: string = '0.3.0'
