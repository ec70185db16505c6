extension MetricFamily {
    package init(_ description: MetricDescription, series: [Series]) {
        self.init(
            name: description.name, help: description.help, kind: description.kind, bounds: description.bounds,
            series: series)
    }

    /// Returns the family with a label prepended to those of every series.
    package func labelled(_ name: String, _ value: String) -> MetricFamily {
        var family = self
        let value = LabelGuard.admits(value) ? value : LabelGuard.withheld
        for index in family.series.indices { family.series[index].labels.insert(Label(name, value), at: 0) }
        return family
    }

    /// Merges the exports of several processes: each family appears once, with the series of all.
    ///
    /// A family that differs in kind or bounds from the first of its name is dropped.
    package static func merged(_ exports: [[MetricFamily]]) -> [MetricFamily] {
        var merged: [MetricFamily] = []
        var indices: [String: Int] = [:]
        for family in exports.joined() {
            guard let index = indices[family.name] else {
                indices[family.name] = merged.count
                merged.append(family)
                continue
            }
            guard merged[index].kind == family.kind, merged[index].bounds == family.bounds else { continue }
            merged[index].series += family.series
        }
        return merged
    }
}
