import { spawn } from 'node:child_process'

const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Best effort: the address has been printed, and not every machine has a browser. */
export function openBrowser(url: string): void {
  const [file = 'xdg-open', ...args] = openers[process.platform] ?? ['xdg-open']
  const opener = spawn(file, [...args, url], { stdio: 'ignore', detached: true })
  opener.on('error', () => {})
  opener.unref()
}
