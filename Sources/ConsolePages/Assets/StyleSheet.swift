/// The style sheet: a palette in variables, light and dark by the system's setting, and dense tables.
///
/// Each colour of text has a contrast of at least 4.5:1 on the backgrounds that it is used on (WCAG AA); tests compute it.
enum StyleSheet {
    static let text = #"""
        :root {
          --page: #f5f6f8; --surface: #ffffff; --raised: #eceff3; --line: #c9d0d8; --edge: #76808c;
          --text: #1a1f26; --muted: #525c68; --link: #0a56a3; --focus: #0a56a3;
          --good: #17643a; --warn: #7a4b00; --bad: #a82018; --idle: #525c68;
          --line-0: #0a56a3; --line-1: #8a4b00; --line-2: #17643a; --line-3: #7a2e8e;
          --button: #0a56a3; --button-text: #ffffff;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #12161b; --surface: #1a1f26; --raised: #242b34; --line: #38424e; --edge: #7d8997;
            --text: #e8ecf1; --muted: #aab4c0; --link: #84bdff; --focus: #84bdff;
            --good: #76d39a; --warn: #f0b95b; --bad: #ff9a90; --idle: #aab4c0;
            --line-0: #84bdff; --line-1: #f0b95b; --line-2: #76d39a; --line-3: #d7a2ec;
            --button: #84bdff; --button-text: #10141a;
          }
        }
        *, *::before, *::after { box-sizing: border-box; }
        html { font: 14px/1.45 system-ui, "Noto Sans", sans-serif; background: var(--page); color: var(--text);
          -webkit-text-size-adjust: 100%; text-size-adjust: 100%; scrollbar-gutter: stable; }
        body { margin: 0; min-height: 100vh; display: flex; flex-direction: column; }
        a { color: var(--link); text-underline-offset: 2px; }
        :focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: 2px; }
        main:focus { outline: none; }
        code, pre, textarea, .number, .last { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 13px;
          font-variant-numeric: tabular-nums; }
        .skip { position: absolute; left: -999px; top: 0; padding: 8px 12px; background: var(--surface); z-index: 2; }
        .skip:focus { left: 8px; top: 8px; }
        .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
        .bar { display: flex; flex-wrap: wrap; gap: 4px 20px; align-items: center; padding: 8px 16px;
          background: var(--surface); border-bottom: 1px solid var(--line); }
        .brand { margin: 0; font-weight: 600; } .brand a { color: inherit; text-decoration: none; }
        nav ul { display: flex; flex-wrap: wrap; gap: 2px 4px; margin: 0; padding: 0; list-style: none; }
        nav a { display: block; padding: 5px 10px; border-radius: 4px; text-decoration: none; color: var(--text); }
        nav a:hover { background: var(--raised); }
        nav a[aria-current] { background: var(--raised); box-shadow: inset 0 -2px var(--link); }
        .who { margin-left: auto; display: flex; gap: 10px; align-items: center; color: var(--muted); }
        main { flex: 1; width: 100%; max-width: 1720px; margin: 0 auto; padding: 8px 16px 24px; }
        footer { padding: 6px 16px; color: var(--muted); border-top: 1px solid var(--line); min-height: 34px; }
        footer p { margin: 0; }
        h1 { font-size: 20px; margin: 10px 0; overflow-wrap: anywhere; } h2 { font-size: 15px; margin: 18px 0 6px; }
        section { background: var(--surface); border: 1px solid var(--line); border-radius: 6px; padding: 2px 14px 12px;
          margin: 0 0 12px; min-width: 0; }
        section h2 { margin-top: 10px; }
        .grid { display: grid; gap: 12px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); }
        .grid > section { margin: 0; }
        .scroll { overflow-x: auto; max-width: 100%; position: relative; }
        table { border-collapse: collapse; width: 100%; }
        caption { text-align: left; color: var(--muted); padding: 2px 0 4px; }
        th, td { text-align: left; vertical-align: top; padding: 4px 14px 4px 0; border-top: 1px solid var(--line); }
        thead th { color: var(--muted); font-weight: 600; border-top: none; white-space: nowrap; }
        tbody th { font-weight: 600; }
        tbody tr:hover { background: var(--raised); }
        bdi { overflow-wrap: anywhere; }
        td bdi, th bdi { overflow-wrap: break-word; }
        td .sentence { display: inline-block; min-width: 24ch; max-width: 90ch; overflow-wrap: anywhere; }
        .facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 180px), 1fr)); gap: 4px 16px; margin: 4px 0; }
        .facts dt { color: var(--muted); } .facts dd { margin: 0; overflow-wrap: anywhere; }
        .mark { white-space: nowrap; } .mark::before { content: "●"; margin-right: 5px; font-size: 11px; }
        .mark-good { color: var(--good); } .mark-warn { color: var(--warn); }
        .mark-bad { color: var(--bad); font-weight: 600; } .mark-idle { color: var(--idle); }
        .mark-bad::before { content: "▲"; } .mark-warn::before { content: "◆"; } .mark-idle::before { content: "○"; }
        .none, .empty, .unit, .dim { color: var(--muted); }
        .problems { list-style: none; margin: 4px 0; padding: 0; }
        .problems li { padding: 6px 0 6px 10px; border-left: 4px solid var(--warn); margin: 4px 0; overflow-wrap: anywhere; }
        .problems li.error { border-color: var(--bad); }
        .problems p { margin: 0; } .problems .advice { color: var(--muted); }
        .note { padding: 6px 10px; border-left: 4px solid var(--edge); margin: 8px 0; }
        .note.error { border-color: var(--bad); } .note.good { border-color: var(--good); }
        .button, button { display: inline-block; font: inherit; padding: 3px 12px; min-height: 28px; border-radius: 4px;
          border: 1px solid var(--edge); background: var(--surface); color: var(--text); text-decoration: none; cursor: pointer; }
        .button:hover, button:hover { background: var(--raised); }
        button.primary { background: var(--button); color: var(--button-text); border-color: var(--button); }
        button.plain { border-color: transparent; color: var(--link); padding: 3px 6px; background: none; }
        .actions { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; margin: 4px 0; }
        form.fields { display: flex; flex-wrap: wrap; gap: 8px 14px; align-items: end; }
        form.fields label, .field { display: grid; gap: 2px; color: var(--muted); min-width: 0; max-width: 100%; }
        input, select, textarea { font: inherit; color: var(--text); background: var(--page); border: 1px solid var(--edge);
          border-radius: 4px; padding: 4px 8px; max-width: 100%; min-width: 0; min-height: 30px; }
        textarea { width: 100%; min-height: 16em; }
        pre { margin: 6px 0; padding: 8px 10px; background: var(--page); border: 1px solid var(--line); border-radius: 4px;
          overflow: auto; max-height: 60vh; tab-size: 2; }
        .numbered { list-style: none; margin: 6px 0; padding: 0; background: var(--page); border: 1px solid var(--line);
          border-radius: 4px; overflow: auto; max-height: 60vh; }
        .numbered li { display: flex; flex-wrap: wrap; min-width: max-content; }
        .numbered code { white-space: pre; }
        .numbered .at { width: 5ch; flex: none; text-align: right; padding-right: 1ch; color: var(--muted); user-select: none; }
        .numbered .wrong { background: var(--raised); }
        .numbered .wrong > .at { color: var(--bad); font-weight: 600; }
        .numbered .why { flex-basis: 100%; padding: 2px 0 4px 6ch; color: var(--bad); white-space: normal; }
        .log { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 12.5px; }
        .log td, .log th { border-top: none; padding-top: 1px; padding-bottom: 1px; font-weight: 400; }
        .log bdi { white-space: pre-wrap; }
        .log .error, .log .critical { color: var(--bad); } .log .warning { color: var(--warn); }
        .log .trace, .log .debug { color: var(--muted); }
        ol.timeline { list-style: none; margin: 4px 0; padding: 0 0 0 14px; border-left: 2px solid var(--line); }
        ol.timeline li { position: relative; padding: 3px 0; overflow-wrap: anywhere; }
        ol.timeline li::before { content: ""; position: absolute; left: -20px; top: 9px; width: 10px; height: 10px;
          border-radius: 50%; background: var(--link); }
        ol.timeline li.divergence::before, ol.timeline li.rollback::before { background: var(--bad); border-radius: 0; }
        .contents { border-left: 4px solid var(--warn); padding-left: 8px; }
        .chart { margin: 6px 0; } .chart figcaption { display: flex; flex-wrap: wrap; gap: 2px 12px; }
        .chart svg { display: block; width: 100%; height: auto; }
        .axis { stroke: var(--line); stroke-width: 1; } .tick { fill: var(--muted); font-size: 10px; }
        .line { fill: none; stroke-width: 1.5; stroke-linejoin: round; vector-effect: non-scaling-stroke; }
        .line-0 { stroke: var(--line-0); } .line-1 { stroke: var(--line-1); stroke-dasharray: 6 2; }
        .line-2 { stroke: var(--line-2); stroke-dasharray: 2 2; } .line-3 { stroke: var(--line-3); stroke-dasharray: 8 2 2 2; }
        .key { color: var(--muted); } .key::before { content: "━"; margin-right: 4px; }
        .key-0::before { color: var(--line-0); } .key-1::before { color: var(--line-1); content: "┅"; }
        .key-2::before { color: var(--line-2); content: "┉"; } .key-3::before { color: var(--line-3); }
        .spark { width: 100px; height: 20px; vertical-align: middle; margin-right: 6px; }
        .last { display: inline-block; min-width: 4ch; }
        .login { max-width: 420px; }
        @media (max-width: 560px) {
          main { padding: 4px 8px 16px; } section { padding: 2px 8px 8px; } .bar { padding: 6px 8px; }
          .who { margin-left: 0; width: 100%; justify-content: space-between; }
          .tick { font-size: 18px; }
        }
        .button, button, nav a { transition: background-color 120ms; }
        @media (prefers-reduced-motion: reduce) {
          *, *::before, *::after { transition: none !important; animation: none !important; scroll-behavior: auto !important; }
        }
        @media (forced-colors: active) { .line { stroke: CanvasText; } .mark::before { color: CanvasText; } }
        @media print { .bar nav, .who, .button, footer { display: none; } }
        """#
}
