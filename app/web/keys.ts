/** What goes with another key: ⌘ on a Mac, Ctrl elsewhere. */
export const commandKey = /mac|iphone|ipad/i.test(navigator.platform) ? '⌘' : 'Ctrl'
