/**
 * An older Node fails somewhere in a library, in words that help nobody. Imported before everything else by the service and the
 * command; `npm run` and the image bring a Node that fits.
 */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 11)) {
  process.stderr.write(
    `parley: Node 24.11 or newer is needed, this is ${process.versions.node}. Start it through npm ` +
      '(npm start, npm run parley -- …), which brings its own, or by node_modules/.bin/node in place of node.\n',
  );
  process.exit(1);
}
