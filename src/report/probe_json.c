/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The probe's findings as JSON, schema strata.machine/1 (docs/format/probe-json.md).
 *
 * What is not known is null, and the "why" beside it has the reason under the same key.
 * Bytes and counts are whole numbers; a time that is whole is written without a point. */
#include "core/utf8.h"
#include "dataset/dataset.h"
#include "host/claims.h"
#include "report/params.h"
#include "report/probe_report.h"

#include <math.h>
#include <string.h>

/* Setting NULL as a value fails, so that a failed allocation anywhere is a nonzero
 * result here. */

static int set_text(json_t *object, const char *key, const char *text)
{
    char clean[512];
    return json_object_set_new(object, key,
                               json_string(utf8_clean(text, clean, sizeof clean)));
}

/* Doubles hold whole numbers exactly up to 2^53. */
static json_t *number_json(double value, bool whole)
{
    if (!isfinite(value))
        return json_null();
    if (whole)
        value = round(value);
    if (value == trunc(value) && fabs(value) <= 0x1p53)
        return json_integer((json_int_t)value);
    return json_real(value);
}

static int set_number(json_t *object, const char *key, double value)
{
    return json_object_set_new(object, key, number_json(value, false));
}

static int set_range(json_t *object, const struct param *param,
                     const struct strata_value *value, bool whole)
{
    char key[48];
    snprintf(key, sizeof key, "%s_range", param->key);
    if (!value_known(value))
        return json_object_set_new(object, key, json_null());
    double low = isfinite(value->low) ? value->low : value->value;
    double high = isfinite(value->high) ? value->high : value->value;
    return json_object_set_new(
        object, key,
        json_pack("[o, o]", number_json(low, whole), number_json(high, whole)));
}

static int set_param(json_t *object, const struct param *param,
                     const struct strata_value *value)
{
    bool whole = param->unit == PARAM_BYTES || param->unit == PARAM_COUNT;
    int bad = json_object_set_new(
        object, param->key, number_json(value_known(value) ? value->value : NAN, whole));
    return param->interval ? bad | set_range(object, param, value, whole) : bad;
}

/* Every parameter of one owner, the confidence of those that are known, the smallest of
 * these, and the reasons for the rest. */
static int set_params(json_t *object, const void *owner, const struct param *params)
{
    json_t *of = json_object(), *why = json_object(), *by = json_object();
    double least = NAN;
    int bad = 0;
    for (const struct param *p = params; p->key; p++) {
        const struct strata_value *value = param_value(owner, p);
        bad |= set_param(object, p, value);
        if (value_known(value)) {
            bad |= set_number(of, p->key, value->confidence);
            least = fmin(least, value->confidence);
            if (*value->by)
                bad |= set_text(by, p->key, value->by);
        } else {
            bad |= set_text(why, p->key, *value->why ? value->why : "not measured");
        }
    }
    bad |= set_number(object, "confidence", least);
    bad |= json_object_set_new(object, "confidence_of", of);
    bad |= json_object_set_new(object, "why", why);
    if (json_object_size(by))
        bad |= json_object_set(object, "by", by);
    json_decref(by);
    return bad;
}

static json_t *finish(json_t *json, int bad)
{
    if (!bad)
        return json;
    json_decref(json);
    return NULL;
}

/* What a load hits at level 1 holds data; further out caches hold both, as all do that
 * are known. Loads alone cannot tell. */
static const char *kind_of(int level)
{
    return level == 1 ? "data" : "unified";
}

static json_t *cache_json(const struct strata_probed_cache *cache)
{
    json_t *object = json_object();
    int bad = set_number(object, "level", cache->level);
    bad |= set_text(object, "kind", kind_of(cache->level));
    bad |= set_params(object, cache, cache_params);
    if (value_known(&cache->banks)) {
        bad |= set_number(object, "banks", cache->banks.value);
        bad |= set_number(object, "interleave", cache->interleave.value);
        bad |= set_text(object, "banks_by", cache->banks.by);
    }
    return finish(object, bad);
}

static json_t *tlb_json(const struct strata_probed_tlb *tlb)
{
    json_t *object = json_object();
    int bad = set_number(object, "level", tlb->level);
    bad |= set_text(object, "kind", kind_of(tlb->level));
    bad |= set_number(object, "page", (double)tlb->page);
    bad |= set_params(object, tlb, tlb_params);
    return finish(object, bad);
}

static json_t *memory_json(const struct strata_probed *probed)
{
    json_t *object = json_object();
    return finish(object, set_params(object, probed, memory_params));
}

static json_t *caches_json(const struct strata_probed *probed)
{
    json_t *array = json_array();
    int bad = !array;
    for (int i = 0; i < cache_count(probed); i++)
        bad |= json_array_append_new(array, cache_json(&probed->caches[i]));
    return finish(array, bad);
}

static json_t *tlbs_json(const struct strata_probed *probed)
{
    json_t *array = json_array();
    int bad = !array;
    for (int i = 0; i < tlb_count(probed); i++)
        bad |= json_array_append_new(array, tlb_json(&probed->tlbs[i]));
    return finish(array, bad);
}

static json_t *notes_json(const struct strata_probed *probed)
{
    json_t *array = json_array();
    int bad = !array;
    for (int i = 0; i < note_count(probed); i++) {
        char clean[256];
        utf8_clean(probed->notes[i], clean, sizeof clean);
        bad |= json_array_append_new(array, json_string(clean));
    }
    return finish(array, bad);
}

/* The number of caches; counts of misses do not say how sure it is. */
static json_t *levels_json(const struct strata_probed *probed)
{
    json_t *object = json_object();
    int bad = set_number(object, "value", cache_count(probed));
    double confidence = probed->levels.known ? probed->levels.confidence : NAN;
    bad |= set_number(object, "confidence", confidence);
    return finish(object, bad);
}

/* A seed beyond 2^53 would be rounded by most readers, so it is a string of digits. */
static json_t *seed_json(uint64_t seed)
{
    char digits[24];
    if (seed <= UINT64_C(1) << 53)
        return json_integer((json_int_t)seed);
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)seed);
    return json_string(digits);
}

/* null, with a reason, where there is no processor, huge page or version to name. */
static int set_run(json_t *object, const struct strata_probed *probed)
{
    json_t *why = json_object();
    const char *version = probed->data ? probed->data->version : "";
    int bad = set_number(object, "cpu", probed->cpu >= 0 ? probed->cpu : NAN);
    if (probed->cpu < 0)
        bad |= set_text(why, "cpu", "the machine is simulated");
    if (!probed->huge)
        bad |= set_text(why, "huge", "a program gets no huge pages here");
    bad |= json_object_set_new(object, "seed", seed_json(probed->seed));
    bad |= json_object_set_new(object, "levels", levels_json(probed));
    bad |= set_number(object, "seconds", probed->seconds);
    bad |= set_number(object, "cycle_ns", probed->cycle_ns);
    bad |= set_number(object, "busy", probed->busy);
    bad |= set_number(object, "accesses", (double)probed->accesses);
    if (*version) {
        bad |= set_text(object, "version", version);
    } else {
        bad |= json_object_set_new(object, "version", json_null());
        bad |= set_text(why, "version", "the measurement does not name one");
    }
    bad |= json_object_set_new(object, "why", why);
    return bad;
}

json_t *probe_json(const struct strata_probed *probed)
{
    json_t *object = json_object();
    int bad = set_text(object, "schema", "strata.machine/1");
    bad |= set_text(object, "name", probed->name);
    bad |= set_text(object, "source", probed->source);
    bad |= set_text(object, "method", probed->method);
    bad |= set_number(object, "page", (double)probed->page);
    bad |= set_number(object, "huge", probed->huge ? (double)probed->huge : NAN);
    bad |= json_object_set_new(object, "caches", caches_json(probed));
    bad |= json_object_set_new(object, "tlbs", tlbs_json(probed));
    bad |= json_object_set_new(object, "memory", memory_json(probed));
    bad |= json_object_set_new(object, "notes", notes_json(probed));
    bad |= set_run(object, probed);
    return finish(object, bad);
}

/* 0 stands for what is not claimed. */
static int set_claim(json_t *object, const char *key, uint64_t figure)
{
    return set_number(object, key, figure ? (double)figure : NAN);
}

static json_t *claimed_caches_json(const struct claim_list *list)
{
    json_t *array = json_array();
    int bad = !array;
    for (int i = 0; !bad && i < list->n; i++) {
        json_t *object = json_object();
        bad |= set_number(object, "level", list->caches[i].level);
        bad |= set_claim(object, "size", list->caches[i].size);
        bad |= set_claim(object, "line", list->caches[i].line);
        bad |= set_claim(object, "ways", list->caches[i].ways);
        bad |= json_array_append_new(array, object);
    }
    return finish(array, bad);
}

static json_t *claimed_tlbs_json(const struct claims *claims)
{
    json_t *array = json_array();
    int bad = !array;
    for (int i = 0; !bad && i < claims->ntlbs; i++) {
        json_t *object = json_object();
        bad |= set_number(object, "level", claims->tlbs[i].level);
        bad |= set_number(object, "page", (double)claims->tlbs[i].page);
        bad |= set_claim(object, "entries", claims->tlbs[i].entries);
        bad |= set_claim(object, "ways", claims->tlbs[i].ways);
        bad |= json_array_append_new(array, object);
    }
    return finish(array, bad);
}

/* What one of them says; only a machine file (the first) says anything of TLBs. */
static json_t *claimant_json(const struct claims *claims, int i)
{
    const struct claim_list *list = &claims->by[i];
    json_t *object = json_object();
    int bad = set_text(object, "by", list->who);
    bad |= json_object_set_new(object, "caches", claimed_caches_json(list));
    if (!list->n)
        bad |= set_text(object, "why", list->why);
    if (i == 0 && claims->ntlbs)
        bad |= json_object_set_new(object, "tlbs", claimed_tlbs_json(claims));
    return finish(object, bad);
}

json_t *claims_json(const struct claims *claims)
{
    json_t *array = json_array();
    int bad = !array;
    for (int i = 0; i < CLAIMANTS && claims->by[i].who; i++)
        bad |= json_array_append_new(array, claimant_json(claims, i));
    return finish(array, bad);
}
