
function model = at_parameters(model, given)
% The model at other parameter values: polynomials in theta only, summed over the terms in the parameters.
    mu = given(:); f = model.family; s = model.theta;
    if numel(mu) ~= numel(f.lower) || ~all(mu >= f.lower(:)) || ~all(mu <= f.upper(:))
        error('@PREFIX@:parameters', 'expected %d parameter values within their ranges', numel(f.lower));
    end
    met = all(f.root_lower(:, s+1:end) <= mu.', 2) & all(mu.' <= f.root_upper(:, s+1:end), 2);
    model.root_lower = f.root_lower(met, 1:s); model.root_upper = f.root_upper(met, 1:s);
    model.root_child = arrayfun(@(child) below(f, child, mu, s), f.root_child(met));
    model.node_axis = f.node_axis; model.node_cut = f.node_cut;
    model.node_children = reshape(arrayfun(@(child) below(f, child, mu, s), f.node_children), size(f.node_children));
    model.leaf_center = f.leaf_center(:, 1:s); model.leaf_scale = f.leaf_scale(:, 1:s);
    [~, first, places] = unique(f.degrees(:, 1:s), 'rows', 'first');
    [first, order] = sort(first(:));  % terms in order of first appearance
    rank = zeros(numel(order), 1); rank(order) = 1:numel(order);
    places = rank(places(:));
    model.degrees = f.degrees(first, 1:s);
    top = max(1, max(max(f.degrees(:, s+1:end))));
    rows = cell(numel(f.leaf_terms), 1); start = 0;
    for leaf = 1:numel(f.leaf_terms)
        count = f.leaf_terms(leaf);
        xi = (mu - f.leaf_center(leaf, s+1:end).') .* f.leaf_scale(leaf, s+1:end).';
        T = ones(numel(mu), top + 1); T(:, 2) = xi;
        for k = 3:top + 1
            T(:, k) = 2 * xi .* T(:, k-1) - T(:, k-2);
        end
        weights = ones(count, 1);
        for j = 1:numel(mu)
            weights = weights .* T(j, f.degrees(1:count, s+j) + 1).';
        end
        sums = sparse(places(1:count), 1:count, weights, max(places(1:count)), count);
        rows{leaf} = full(sums * f.polynomials(f.leaf_first(leaf) + (1:count), :));
        model.leaf_first(leaf) = start; model.leaf_terms(leaf) = size(rows{leaf}, 1);
        start = start + size(rows{leaf}, 1);
    end
    model.leaf_first = model.leaf_first(1:numel(rows)); model.leaf_terms = model.leaf_terms(1:numel(rows));
    model.polynomials = vertcat(rows{:});
    model.family.values = mu;
end

function child = below(f, child, mu, s)
% The child node selected by the parameters.
    while child >= 0 && f.node_axis(child + 1) >= s
        at = child + 1;
        child = f.node_children(at, 1 + (mu(f.node_axis(at) - s + 1) >= f.node_cut(at)));
    end
end
