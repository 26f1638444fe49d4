import { serveProxies } from '@codelanes/worker/serve-proxies';

/** What may be connected to; of the machine's addresses this one stands for the public internet. */
const open = '127.0.0.1';
/** Where what nobody may reach listens: it stands for the operator's own network. */
const inside = '127.0.0.3';

const ledInside: Readonly<Record<string, readonly string[]>> = {
  'inside.example': [inside],
  'beside.example': [inside, open],
  'v6.example': ['::1'],
  'mapped.example': [`::ffff:${inside}`],
  'translated.example': ['64:ff9b::7f00:3'],
};
let asked = 0;

/** The proxies of a worker under test: every name leads to what is open, but for those by which attacks get inside. */
serveProxies({
  lookup: (name) => {
    // The first answer passes the check; whoever asks again, to connect, is led elsewhere.
    if (name === 'rebinding.example') return Promise.resolve([asked++ % 2 === 0 ? open : inside]);
    return Promise.resolve(ledInside[name] ?? [open]);
  },
  permits: (address) => address === open,
});
