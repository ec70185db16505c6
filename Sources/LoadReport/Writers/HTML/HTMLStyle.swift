/// Style sheet of the page, for light and dark mode.
enum HTMLStyle {
    static let css = """

        :root {
          --page: #f6f7f9; --card: #ffffff; --ink: #1b2430; --soft: #5a6675; --line: #dde2e9; --grid: #e8ecf1;
          --good: #16794a; --good-back: #dff3e8; --bad: #b3261e; --bad-back: #fbe4e2; --fault: #d9480f;
          --stage: rgba(60, 90, 130, .06);
          --c0: #2563c9; --c1: #0f8f7e; --c2: #b45309; --c3: #8b3fb8; --c4: #c02664; --c5: #5b6b7d;
          --p50: #7aa7e8; --p95: #2563c9; --p99: #12306b;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #11151b; --card: #1a2029; --ink: #e6eaf0; --soft: #9aa7b6; --line: #2d3642; --grid: #262e39;
            --good: #5fd39a; --good-back: #14351f; --bad: #ff8f86; --bad-back: #45191a; --fault: #ff9a5c;
            --stage: rgba(160, 190, 230, .06);
            --c0: #6ea8ff; --c1: #3fcab6; --c2: #f0a54a; --c3: #c58af0; --c4: #f57aa8; --c5: #a3b1c2;
            --p50: #5b8bd0; --p95: #6ea8ff; --p99: #cfe1ff;
          }
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--page); color: var(--ink);
          font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
        main { max-width: 1160px; margin: 0 auto; padding: 28px 20px 60px; }
        h1 { font-size: 26px; line-height: 1.25; margin: 0; overflow-wrap: anywhere; }
        h2 { font-size: 18px; margin: 36px 0 12px; }
        h3 { font-size: 14px; margin: 0 0 2px; }
        p { margin: 0; } .soft { color: var(--soft); font-size: 13px; overflow-wrap: anywhere; }
        header { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; margin-bottom: 18px; }
        header div { flex: 1 1 300px; min-width: 0; }
        .verdict { padding: 6px 14px; border-radius: 8px; font-weight: 650; white-space: nowrap; }
        .good { color: var(--good); } .bad { color: var(--bad); }
        .verdict.good, .mark.good { background: var(--good-back); }
        .verdict.bad, .mark.bad { background: var(--bad-back); }
        .mark { padding: 1px 8px; border-radius: 5px; font-weight: 650; font-size: 12.5px; white-space: nowrap; }
        .tiles { display: grid; gap: 12px; grid-template-columns: repeat(auto-fit, minmax(125px, 1fr)); margin: 18px 0; }
        .card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; min-width: 0; }
        .tiles .card { padding: 10px 14px; }
        .tiles b { display: block; font-size: 22px; line-height: 1.3; font-variant-numeric: tabular-nums; }
        .grid { display: grid; gap: 14px; grid-template-columns: repeat(auto-fill, minmax(min(100%, 460px), 1fr)); }
        details summary { font-size: 18px; font-weight: 700; margin: 36px 0 12px; cursor: pointer; }
        .scroll { overflow-x: auto; }
        table { border-collapse: collapse; width: 100%; font-size: 13.5px; font-variant-numeric: tabular-nums; }
        th { text-align: left; color: var(--soft); font-weight: 550; font-size: 12.5px; }
        th, td { padding: 5px 12px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
        tr:last-child td { border-bottom: 0; }
        th.n, td.n { text-align: right; white-space: nowrap; }
        .n + :not(.n) { padding-left: 14px; }
        td.w { overflow-wrap: anywhere; min-width: 160px; }
        td.k { white-space: nowrap; }
        pre { margin: 0; font: 12.5px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
        .keys { display: flex; flex-wrap: wrap; gap: 2px 14px; font-size: 12.5px; color: var(--soft); margin: 2px 0 4px; }
        .keys i { display: inline-block; width: 14px; height: 3px; border-radius: 2px; margin-right: 6px; vertical-align: middle; }
        svg { display: block; width: 100%; height: auto; }
        svg text { font: 11px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--soft); }
        svg .value { fill: var(--ink); font-size: 12px; } svg .name { fill: var(--ink); font-size: 12px; }
        svg .grid-line { stroke: var(--grid); stroke-width: 1; } svg .axis { stroke: var(--line); stroke-width: 1; }
        svg .stage { fill: var(--stage); } svg .band { fill: var(--fault); opacity: .13; }
        svg .edge { stroke: var(--fault); stroke-width: 1.2; stroke-dasharray: 3 3; }
        svg .badge { fill: var(--fault); } svg .badge-text { fill: var(--card); font-size: 10px; font-weight: 700; }
        svg .series { fill: none; stroke-width: 1.8; stroke-linejoin: round; stroke-linecap: round; }
        svg .wide { stroke-width: 5; opacity: .4; }
        svg .hover { fill: transparent; } svg .hover:hover { fill: var(--soft); opacity: .22; }
        svg .track { fill: var(--grid); }
        .number { display: inline-block; min-width: 18px; padding: 0 5px; border-radius: 9px; text-align: center;
          background: var(--fault); color: var(--card); font-weight: 700; font-size: 11px; line-height: 18px; }
        @media print { body { background: none; } .card { break-inside: avoid; } }

        """
}
