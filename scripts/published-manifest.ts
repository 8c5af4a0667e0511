import packageJson from '../package.json' with { type: 'json' }

const {
  scripts: _scripts,
  workspaces: _workspaces,
  devDependencies: _devDependencies,
  optionalDependencies: _optionalDependencies,
  overrides: _overrides,
  exports,
  ...manifest
} = packageJson

/**
 * The package.json that is published. Not the project's own: that one pins a Node for development, which no user
 * of the package should be made to install, and leads to sources that are not there.
 */
export const publishedManifest = {
  ...manifest,
  exports: Object.fromEntries(
    Object.entries(exports).map(([name, entry]) => {
      if (typeof entry === 'string') return [name, entry]
      const { types, default: file } = entry
      return [name, { types, default: file }]
    }),
  ),
}
