"use strict";
/* Takes what the server tells, by the name of the event. Returns what ends it.
   A page that nobody sees has no stream: browsers allow few connections to a server, for all its pages together. */
globalThis.arena.listen = (heard) => {
  let source = null;
  const begin = () => {
    if (source) source.close();
    source = document.hidden ? null : new EventSource("events");
    for (const name in source ? heard : {}) source.addEventListener(name, (event) => heard[name](event.data && JSON.parse(event.data)));
  };
  document.addEventListener("visibilitychange", begin);
  begin();
  return () => { document.removeEventListener("visibilitychange", begin); source.close(); };
};
